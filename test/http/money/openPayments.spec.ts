import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { claimAndDie } from '../support/openClaim.ts';
import { startApi, type TestApi } from '../support/testApi.ts';

const MINUTE_MS = 61_000;

describe('payments that are claimed and not booked, over HTTP', () => {
  let api: TestApi;
  const tenant_id = `open-${randomUUID()}`;
  const named = (provider_txn_id: string, reason = 'never captured') => ({
    provider: 'stripe',
    provider_txn_id,
    reason,
  });
  before(async () => {
    api = await startApi();
    await api.sell(tenant_id, 1_000);
  });
  after(() => api.stop());

  const release = (json: object, key?: string) =>
    api.call('post', '/v1/admin/payments/open/release', { json, ...(key !== undefined && { key }) });
  const open = async () => {
    const { body } = await api.call('get', '/v1/admin/payments/open');
    return (body['items'] as { readonly provider_txn_id: string }[]).map((one) => one.provider_txn_id);
  };

  it('are released once, with the reason in the log; then the name is free again', async () => {
    await claimAndDie(api, tenant_id, 'pi_lost');
    expect(await open()).to.deep.equal(['pi_lost']);
    const young = await release(named('pi_lost'));
    expect([young.status, young.code], young.text).to.deep.equal([409, 'payment_not_releasable']);
    api.wait(MINUTE_MS);
    const done = await release({ ...named('pi_lost'), provider: 'Stripe' });
    expect(done.status, done.text).to.equal(200);
    expect(done.body).to.deep.equal({ ...named('pi_lost'), tenant_id, kind: 'sale' });
    expect(await open()).to.deep.equal([]);
    expect((await release(named('pi_lost'))).code).to.equal('payment_not_found');
    const events = await api.call('get', '/v1/admin/events?type=PaymentReleased&texts=true');
    expect(events.text).to.include('never captured').and.include('"role":"admin"');
  });

  it('are released once by several at the same time', async () => {
    await claimAndDie(api, tenant_id, 'pi_raced');
    api.wait(MINUTE_MS);
    const answers = await Promise.all([1, 2, 3].map(() => release(named('pi_raced'))));
    expect(answers.filter(({ status }) => status === 200)).to.have.lengthOf(1);
    expect(answers.map(({ code }) => code).filter((code) => code !== undefined)).to.deep.equal([
      'payment_not_found',
      'payment_not_found',
    ]);
  });

  it('are not released where they took effect, are none, or are asked for by another than an admin', async () => {
    const json = { tenant_id, credits: 10, provider: 'stripe', provider_txn_id: 'pi_booked' };
    expect((await api.call('post', '/v1/billing/credits', { json })).status).to.equal(200);
    api.wait(MINUTE_MS);
    expect((await release(named('pi_booked'))).code).to.equal('payment_not_releasable');
    expect((await release(named('pi_nobody'))).code).to.equal('payment_not_found');
    expect((await release(named('pi_booked', ''))).code).to.equal('validation_error');
    const key = await api.newKey(tenant_id);
    expect((await release(named('pi_booked'), key)).code).to.equal('admin_required');
  });
});
