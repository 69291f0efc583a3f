import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { bucketsInUse } from '../../../src/server/limits.ts';
import { LIMITED, testApi } from '../support/testApi.ts';

const HEAVY = { rate_per_second: 5, burst: 20 };

describe('the rate-limit buckets in use', () => {
  it('are those that lack a token, the emptiest first, until they are full again', () => {
    let now = 0;
    const inUse = bucketsInUse(() => now);
    inUse.note({ tenant_id: 'acme', bucket: 'heavy' }, HEAVY, 1_000);
    inUse.note({ tenant_id: 'busy', bucket: 'heavy' }, HEAVY, 4_000);
    inUse.note({ tenant_id: 'acme', bucket: 'general' }, { rate_per_second: 50, burst: 200 }, 20);
    const listed = () =>
      inUse.list().map(({ tenant_id, bucket, remaining }) => [tenant_id, bucket, remaining]);
    expect(listed()).to.deep.equal([
      ['busy', 'heavy', 0],
      ['acme', 'heavy', 15],
      ['acme', 'general', 199],
    ]);
    now = 500;
    expect(listed()).to.deep.equal([
      ['busy', 'heavy', 2],
      ['acme', 'heavy', 17],
    ]);
    now = 4_000;
    expect(listed()).to.deep.equal([]);
  });

  it('are at most 20', () => {
    const inUse = bucketsInUse(() => 0);
    for (let n = 0; n < 30; n += 1)
      inUse.note({ tenant_id: `t${String(n)}`, bucket: 'heavy' }, HEAVY, 200 * (n % 20) + 200);
    expect(inUse.list()).to.have.length(20);
  });

  it('are shown to operators', async () => {
    const api = await testApi();
    const tenant = `${LIMITED}${randomUUID()}`;
    // a bucket that takes an hour to fill is never full while a spec runs
    const general = { rate_per_second: 1, burst: 3_600 };
    await api.call('put', `/v1/admin/tenants/${tenant}/rate-limits`, { json: { general } });
    const key = await api.newKey(tenant);
    for (let n = 0; n < 3; n += 1) await api.call('get', '/v1/billing/rates', { key });
    const { body } = await api.call('get', '/v1/admin/service-state');
    const buckets = body['rate_limits'] as readonly {
      readonly tenant_id: string;
      readonly remaining: number;
    }[];
    const { remaining, ...bucket } = buckets.find(({ tenant_id }) => tenant_id === tenant)!;
    expect(bucket).to.deep.equal({ tenant_id: tenant, bucket: 'general', ...general });
    expect(remaining).to.be.within(3_597, 3_599);
  });
});
