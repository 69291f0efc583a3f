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

  it('leaves nothing that an audit finds', async () => {
    expect((await runAudit({ feed: api.log, dense: true })).report.findings).to.deep.equal([]);
  });
});
