import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { testApi, type TestApi } from '../support/testApi.ts';

describe('Idempotency-Key over HTTP', () => {
  let api: TestApi;
  before(async () => {
    api = await testApi();
  });

  const adjust = (key: string, json: unknown, tenant = 'idem-1') =>
    api.call('post', `/v1/admin/tenants/${tenant}/adjust-credits`, {
      json,
      headers: { 'idempotency-key': key },
    });

  it('replays a 2xx to the byte, and says so', async () => {
    const key = randomUUID();
    const first = await adjust(key, { credits: 10, reason: 'gift' });
    expect(first.headers.get('idempotent-replayed')).to.equal(null);
    const again = await adjust(key, { reason: 'gift', credits: 10, allow_negative: false });
    expect(again.text).to.equal(first.text);
    expect(again.headers.get('idempotent-replayed')).to.equal('true');
  });

  it('refuses another request under the same key', async () => {
    const key = randomUUID();
    await adjust(key, { credits: 10, reason: 'gift' });
    expect((await adjust(key, { credits: 11, reason: 'gift' })).code).to.equal('idempotency_key_reused');
  });

  it('keeps keys of tenants and endpoints apart', async () => {
    const key = randomUUID();
    await adjust(key, { credits: 10, reason: 'gift' });
    expect((await adjust(key, { credits: 11, reason: 'gift' }, 'idem-2')).body['credited']).to.equal(true);
    const json = { tenant_id: 'idem-1', provider_txn_id: randomUUID(), credits: 5 };
    const sale = await api.call('post', '/v1/billing/credits', { json, headers: { 'idempotency-key': key } });
    expect(sale.body['credited']).to.equal(true);
  });

  it('does not keep what failed: it can be sent again, corrected', async () => {
    const key = randomUUID();
    expect((await adjust(key, { credits: -10, reason: 'x' }, 'idem-3')).code).to.equal(
      'insufficient_balance',
    );
    expect((await adjust(key, { credits: 10, reason: 'x' }, 'idem-3')).body['credited']).to.equal(true);
  });

  it('answers 409 while the first is still running', async () => {
    const key = randomUUID();
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => adjust(key, { credits: 1, reason: 'race' }, 'idem-4')),
    );
    const codes = replies.map(({ status, code }) => (status === 200 ? 'done' : code));
    expect(codes.every((code) => code === 'done' || code === 'request_in_progress')).to.equal(true);
    expect(codes).to.include('done');
    const balance = await api.call('get', '/v1/billing/balance/idem-4');
    expect(balance.body['balance_credits']).to.equal(1);
  });

  it('does not run a request while the store is away', async () => {
    api.faults.replaysAway = true;
    try {
      const reply = await adjust(randomUUID(), { credits: 1, reason: 'x' }, 'idem-5');
      expect(reply.code).to.equal('not_ready');
      expect(reply.headers.get('retry-after')).to.equal('1');
      expect((await api.call('get', '/v1/billing/balance/idem-5')).code).to.equal('tenant_not_found');
    } finally {
      api.faults.replaysAway = false;
    }
  });

  for (const [what, key] of [
    ['an empty key', ''],
    ['a key with a space', 'a b'],
    ['a key of 256 characters', 'k'.repeat(256)],
  ] as const)
    it(`refuses ${what}`, async () => {
      const json = { tenant_id: 'idem-6', provider_txn_id: randomUUID(), credits: 5 };
      const options = { json, headers: { 'idempotency-key': key } };
      expect((await api.call('post', '/v1/billing/credits', options)).code).to.equal('validation_error');
    });

  it('takes a key of 255 characters', async () => {
    const json = { tenant_id: 'idem-6', provider_txn_id: randomUUID(), credits: 5 };
    const options = { json, headers: { 'idempotency-key': 'k'.repeat(255) } };
    expect((await api.call('post', '/v1/billing/credits', options)).status).to.equal(200);
  });
});
