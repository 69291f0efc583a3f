import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { runAudit } from '../../../src/audit/runAudit.ts';
import { issuesIn } from '../support/client.ts';
import { testApi, type TestApi } from '../support/testApi.ts';

describe('the consent of a tenant to top-ups', () => {
  let api: TestApi;
  const tenant = `TopUp-${randomUUID()}`;
  let key: string;
  const path = `/v1/billing/top-up/${tenant}`;
  const figures = {
    active: true,
    threshold_credits: 1_000,
    credits: 5_000,
    currency: 'EUR',
    monthly_credits_max: 20_000,
  };
  const payer = { payer: 'cus_1', payment_method: 'pm_1' };

  before(async () => {
    api = await testApi();
    key = await api.newKey(tenant);
  });

  it('is not there until an operator says who pays', async () => {
    const none = await api.call('get', path, { key });
    expect(none.body).to.include({ active: false, credits: null, payer: null, balance_credits: 0 });
    const own = await api.call('put', path, { key, json: figures });
    expect(own.status).to.equal(422);
    expect(issuesIn(own)).to.deep.equal(['body.payer missing']);
    const named = await api.call('put', path, { key, json: { ...figures, ...payer } });
    expect(named).to.include({ status: 403, code: 'admin_required' });
    const set = await api.call('put', path, { json: { ...figures, ...payer } });
    expect(set.body['former_payers']).to.deep.equal([]);
    expect(set.body).to.include({ ...figures, ...payer, tenant_id: tenant, balance_credits: 0 });
  });

  it('is read with the balance of this moment, by a seller too', async () => {
    await api.sell(tenant, 3_000);
    const seller = await api.newKey('top-up-seller', 'seller');
    expect((await api.call('get', path, { key: seller })).body).to.include({
      ...figures,
      balance_credits: 3_000,
    });
    expect(await api.call('put', path, { key: seller, json: figures })).to.include({
      code: 'admin_required',
    });
  });

  it('is changed and taken back by its tenant, and by no other', async () => {
    const json = { ...figures, active: false, credits: 6_000 };
    expect((await api.call('put', path, { key, json })).body).to.include({ ...json, ...payer });
    // Who took it back is asked again: the payer, by whoever answers for that one.
    expect(await api.call('put', path, { key, json: figures })).to.include({ code: 'admin_required' });
    const other = await api.newKey(`TopUp-${randomUUID()}`);
    expect(await api.call('get', path, { key: other })).to.include({ code: 'tenant_mismatch' });
    expect(await api.call('put', path, { key: other, json })).to.include({ code: 'tenant_mismatch' });
  });

  it('names who paid before, each once, for what those bought this month counts', async () => {
    for (const name of ['cus_2', 'cus_3', 'cus_2']) {
      const named = await api.call('put', path, {
        json: { ...figures, payer: name, payment_method: 'pm_1' },
      });
      expect(named.status, named.text).to.equal(200);
    }
    const { body, text } = await api.call('get', path, { key });
    expect(body['former_payers']).to.deep.equal(['cus_1', 'cus_3']);
    expect(text).not.to.include('quire:text:');
  });

  it('says what is wrong with it', async () => {
    const wrong = async (change: object) =>
      issuesIn(await api.call('put', path, { json: { ...figures, ...change } }));
    expect(await wrong({ monthly_credits_max: 4_999 })).to.deep.equal(['body.monthly_credits_max custom']);
    expect(await wrong({ credits: 0 })).to.deep.equal(['body.credits too_small']);
    expect(await wrong({ currency: 'XXY' })).to.have.length(1);
    const nobody = await api.call('put', `/v1/billing/top-up/${randomUUID()}`, {
      json: { ...figures, ...payer },
    });
    expect(nobody).to.include({ status: 404, code: 'tenant_not_found' });
  });

  describe('and what became of a top-up', () => {
    const told = (json: object, of = tenant) =>
      api.call('post', `/v1/billing/top-up/${of}/attempts`, { json });
    const declined = {
      outcome: 'declined',
      provider: 'stripe',
      provider_txn_id: 'pi_declined',
      reason: 'insufficient_funds',
      attempted_at: '2026-01-31T07:00:00.000Z',
      next_attempt_at: '2026-01-31T08:00:00.000Z',
    };

    it('is told by who charges, and read by the tenant', async () => {
      expect((await api.call('get', path, { key })).body['last_attempt']).to.equal(null);
      const seller = await api.newKey('top-up-teller', 'seller');
      const json = declined;
      expect((await api.call('post', `${path}/attempts`, { json, key: seller })).status).to.equal(200);
      expect(await api.call('post', `${path}/attempts`, { json, key })).to.include({
        code: 'admin_required',
      });
      expect((await api.call('get', path, { key })).body['last_attempt']).to.deep.equal(declined);
    });

    it('is a purchase only of a payment of the tenant that is booked', async () => {
      const charged = { outcome: 'charged', provider: 'stripe', attempted_at: '2026-01-31T07:00:01.000Z' };
      const other = `TopUp-${randomUUID()}`;
      const ours = await api.sell(other, 1_000);
      for (const provider_txn_id of ['pi_unheard_of', String(ours.body['provider_txn_id'])])
        expect(await told({ ...charged, provider_txn_id })).to.include({ code: 'payment_not_found' });
      const { body } = await api.sell(tenant, 1_000);
      const { provider, provider_txn_id } = body;
      const reply = await told({ ...charged, provider, provider_txn_id });
      expect(reply.body['last_attempt'], reply.text).to.deep.include({ outcome: 'charged', provider_txn_id });
      expect((await told(declined)).body['last_attempt']).to.deep.include({ outcome: 'charged' });
    });

    it('says what is wrong with it', async () => {
      const wrong = async (json: object) => issuesIn(await told({ ...declined, ...json }));
      expect(await wrong({ provider: null })).to.deep.equal(['body.provider custom']);
      expect(await wrong({ provider_txn_id: null })).to.deep.equal(['body.provider_txn_id custom']);
      expect(await wrong({ reason: 'Not enough' })).to.deep.equal(['body.reason invalid_format']);
      expect(await wrong({ outcome: 'paid' })).to.deep.equal(['body.outcome invalid_value']);
      const ahead = new Date(Date.parse(api.deps.clock.now()) + 2 * 86_400_000).toISOString();
      expect(await wrong({ attempted_at: ahead })).to.deep.equal(['body.attempted_at value_error']);
      const nobody = `TopUp-${randomUUID()}`;
      expect(await told(declined, nobody)).to.include({ status: 404, code: 'tenant_not_found' });
      await api.sell(nobody, 1_000);
      expect(issuesIn(await told(declined, nobody))).to.deep.equal(['path.tenant_id value_error']);
    });
  });

  it('leaves nothing that an audit finds', async () => {
    expect((await runAudit({ feed: api.log, dense: true })).report.findings).to.deep.equal([]);
  });
});
