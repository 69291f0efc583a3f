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
    for (const path of ['/v1/admin/tenants/acme/balance-at', '/v1/admin/balances']) {
      const reply = await api.call('get', `${path}?at=2026-01-01&position=1`);
      expect(reply.code).to.equal('validation_error');
    }
  });

  it('is listed for all tenants, page by page and as CSV, also as of before one was opened', async () => {
    const [first, second] = [`balance-${randomUUID()}`, `balance-${randomUUID()}`];
    await api.sell(first, 1_000);
    const sold = await balanceAt(first);
    await api.sell(second, 2_000);
    await api.sell(first, 500);
    const list = async (query: string) => {
      const reply = await api.call('get', `/v1/admin/balances?${query}`);
      expect(reply.status, reply.text).to.equal(200);
      return reply.body as {
        items: readonly Record<string, unknown>[];
        total: number;
        next_cursor: string | null;
      };
    };
    const position = sold.event!['position']!;
    const seen: Record<string, unknown>[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const more = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const page = await list(`position=${position}&limit=2${more}`);
      seen.push(...page.items);
      cursor = page.next_cursor;
      expect(seen.length).to.be.at.most(page.total);
    }
    const [one, other] = [first, second].map((id) => seen.find(({ tenant_id }) => tenant_id === id));
    expect(one).to.deep.equal({ ...sold.figures, event: sold.event });
    expect(other).to.include({ balance_credits: 0, event: null });
    expect(new Set(seen.map(({ tenant_id }) => tenant_id)).size).to.equal(seen.length);
    const now = await list('limit=1000');
    for (const { event, ...figures } of now.items)
      expect({ figures, event }).to.deep.equal(await balanceAt(String(figures['tenant_id'])));
    const csv = await api.call('get', '/v1/admin/balances', { headers: { accept: 'text/csv' } });
    const [titles, ...rows] = csv.text.trimEnd().split('\r\n');
    expect(titles).to.match(/^tenant_id,plan,balance_credits,/);
    expect(rows).to.have.length(now.total);
    expect(rows.find((row) => row.startsWith(`${first},`))).to.match(/^[^,]+,paid,1500,/);
  });
});
