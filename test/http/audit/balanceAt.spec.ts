import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { testApi, type TestApi } from '../support/testApi.ts';

describe('a balance as of any moment', () => {
  let api: TestApi;
  before(async () => {
    api = await testApi();
  });

  const balanceAt = async (tenant: string, query = '') => {
    const reply = await api.call('get', `/v1/admin/tenants/${tenant}/balance-at?${query}`);
    expect(reply.status, reply.text).to.equal(200);
    const { event, ...figures } = reply.body;
    return { figures, event: event as Readonly<Record<string, string>> | null };
  };

  it('is what each event of the account left, and names the event that it stands on', async () => {
    const tenant = `balance-${randomUUID()}`;
    for (const credits of [1_000, 2_000]) expect((await api.sell(tenant, credits)).status).to.equal(200);
    const now = await balanceAt(tenant);
    expect(now.figures).to.deep.equal({
      tenant_id: tenant,
      plan: 'paid',
      balance_credits: 3_000,
      held_credits: 0,
      available_credits: 3_000,
      total_credits_purchased: 3_000,
      total_credits_used: 0,
      total_credits_adjusted: 0,
      free_pages_used: 0,
      free_pages_held: 0,
      open_holds: 0,
    });
    const { text } = await api.call('get', `/v1/admin/events?stream=account-${tenant}`);
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, string>);
    const { position, revision, event_id, type, recorded_at, hash } = lines.at(-1)!;
    expect(now.event).to.deep.equal({ position, revision, event_id, type, recorded_at, hash });
    expect(await balanceAt(tenant, `at=${recorded_at}`)).to.deep.equal(now);
    const sales = lines.filter((line) => line['type'] === 'CreditsGranted');
    const first = await balanceAt(tenant, `position=${sales[0]!['position']!}`);
    expect(first.figures['balance_credits']).to.equal(1_000);
    expect(first.event).to.include({ hash: sales[0]!['hash'] });
  });

  it('is nothing before the account was opened', async () => {
    const tenant = `balance-${randomUUID()}`;
    await api.sell(tenant, 1_000);
    const early = await balanceAt(tenant, 'at=2020-01-01');
    expect(early.event).to.equal(null);
    expect(early.figures).to.include({ balance_credits: 0, open_holds: 0 });
  });

  it('is of a time or of a position', async () => {
    const reply = await api.call('get', '/v1/admin/tenants/acme/balance-at?at=2026-01-01&position=1');
    expect(reply.code).to.equal('validation_error');
  });
});
