import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { RateLimitOverride } from '../../../domain/rateLimits.ts';
import { tenantLimits } from '../../../src/server/limits.ts';
import { LIMITED, testApi, type TestApi } from '../support/testApi.ts';

const WIDE: RateLimitOverride = {
  heavy: null,
  general: { rate_per_second: 7, burst: 9 },
  updated_at: '2026-01-31T08:00:00.000Z',
  updated_by: 'key_1',
};

describe('the cache of rate-limit overrides', () => {
  let now = 0;
  let stored: RateLimitOverride | null = null;
  let away = false;
  let lookups = 0;
  const replica = () =>
    tenantLimits({
      lookup: () => {
        lookups += 1;
        return away ? Promise.reject(new Error('away')) : Promise.resolve(stored);
      },
      nowMs: () => now,
      onError: () => undefined,
    });
  const burstOf = async (limits: ReturnType<typeof tenantLimits>) =>
    (await limits.bucketsOf('acme')).general.burst;

  beforeEach(() => {
    now = 0;
    stored = null;
    away = false;
    lookups = 0;
  });

  it('shows an override at once where it was made, and elsewhere after 60 seconds', async () => {
    const [here, there] = [replica(), replica()];
    expect([await burstOf(here), await burstOf(there)]).to.deep.equal([200, 200]);
    stored = WIDE;
    here.put('acme', WIDE);
    expect([await burstOf(here), await burstOf(there)]).to.deep.equal([9, 200]);
    now += 59_999;
    expect(await burstOf(there)).to.equal(200);
    now += 1;
    expect(await burstOf(there)).to.equal(9);
  });

  it('looks limits in use up ahead of time, and keeps nobody waiting for it', async () => {
    const limits = replica();
    expect(await burstOf(limits)).to.equal(200);
    stored = WIDE;
    now += 30_000;
    expect(await burstOf(limits)).to.equal(200);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await burstOf(limits)).to.equal(9);
    expect(lookups).to.equal(2);
  });

  it('forgets what a look-up finds that was overtaken by a change here', async () => {
    const limits = replica();
    await burstOf(limits);
    now += 30_000;
    const asked = burstOf(limits);
    limits.put('acme', WIDE);
    await asked;
    await new Promise((resolve) => setImmediate(resolve));
    expect(await burstOf(limits)).to.equal(9);
  });

  it('asks once for many requests at a time', async () => {
    const limits = replica();
    await Promise.all(Array.from({ length: 50 }, () => limits.bucketsOf('acme')));
    expect(lookups).to.equal(1);
  });

  it('keeps what it knew while the look-up fails, the defaults when it knew nothing', async () => {
    const limits = replica();
    stored = WIDE;
    expect(await burstOf(limits)).to.equal(9);
    away = true;
    now += 60_000;
    expect(await burstOf(limits)).to.equal(9);
    expect(await burstOf(replica())).to.equal(200);
  });

  it('does not wait for a look-up that never ends', async () => {
    const limits = tenantLimits({
      lookup: () => new Promise(() => undefined),
      nowMs: () => now,
      onError: () => undefined,
    });
    expect(await burstOf(limits)).to.equal(200);
  });

  it('forgets all when it is flushed', async () => {
    const limits = replica();
    await burstOf(limits);
    stored = WIDE;
    expect(limits.flush()).to.equal(1);
    expect(await burstOf(limits)).to.equal(9);
  });
});

describe('rate-limit overrides over HTTP', () => {
  let api: TestApi;
  let path: string;
  let tenant: string;
  before(async () => {
    api = await testApi();
  });
  beforeEach(() => {
    tenant = `${LIMITED}${randomUUID()}`;
    path = `/v1/admin/tenants/${tenant}/rate-limits`;
  });

  const DEFAULTS = {
    heavy: { rate_per_second: 5, burst: 20, source: 'default' },
    general: { rate_per_second: 50, burst: 200, source: 'default' },
  };

  it('are none at first', async () => {
    await api.newKey(tenant);
    const { status, body } = await api.call('get', path);
    expect(status).to.equal(200);
    expect(body).to.deep.include({ tenant_id: tenant, effective: DEFAULTS, override: null });
  });

  it('hold at once, for a burst and then its rate, and end when they are deleted', async () => {
    const key = await api.newKey(tenant);
    const put = await api.call('put', path, { json: { general: { rate_per_second: 3, burst: 4 } } });
    expect(put.status).to.equal(200);
    expect(put.body['effective']).to.deep.equal({
      heavy: DEFAULTS.heavy,
      general: { rate_per_second: 3, burst: 4, source: 'override' },
    });
    const admitted = async (times: number) => {
      const replies = await Promise.all(
        Array.from({ length: times }, () => api.call('get', '/v1/billing/rates', { key })),
      );
      expect(replies.find(({ status }) => status === 429)?.headers.get('retry-after')).to.equal('1');
      return replies.filter(({ status }) => status === 200).length;
    };
    expect(await admitted(10)).to.equal(4);
    api.passMs(1000);
    expect(await admitted(10)).to.equal(3);

    const deleted = await api.call('delete', path);
    expect(deleted.body).to.deep.include({ deleted: true, effective: DEFAULTS, override: null });
    const info = await api.call('get', `/v1/billing/tenant-info/${tenant}`);
    expect(info.body['rate_limits']).to.deep.equal({
      heavy: { rate_per_second: 5, burst: 20 },
      general: { rate_per_second: 50, burst: 200 },
    });
  });

  it('are replaced as a whole, and repeated without a trace', async () => {
    await api.call('put', path, { json: { heavy: { rate_per_second: 9, burst: 9 } } });
    const second = await api.call('put', path, { json: { general: { rate_per_second: 8, burst: 8 } } });
    expect(second.body['override']).to.deep.equal({ heavy: null, general: { rate_per_second: 8, burst: 8 } });
    const third = await api.call('put', path, { json: { general: { rate_per_second: 8, burst: 8 } } });
    expect(third.body['updated_at']).to.equal(second.body['updated_at']);
  });

  it('that are not there are deleted without complaint', async () => {
    const { status, body } = await api.call('delete', path);
    expect([status, body['deleted']]).to.deep.equal([200, false]);
  });

  it('take 1 to 10,000 and nothing else', async () => {
    for (const bucket of [
      { rate_per_second: 0, burst: 1 },
      { rate_per_second: 1, burst: 10_001 },
      { rate_per_second: 1.5, burst: 1 },
      { rate_per_second: 1 },
      { rate_per_second: 1, burst: 1, per: 'minute' },
    ])
      expect((await api.call('put', path, { json: { heavy: bucket } })).code).to.equal('validation_error');
  });

  it('leave the cache when it is flushed', async () => {
    await api.call('get', '/v1/billing/rates', { key: await api.newKey(tenant) });
    const { status, body } = await api.call('post', '/v1/admin/tenants/rate-limits/cache/flush');
    expect(status).to.equal(200);
    expect(body['flushed']).to.be.greaterThan(0);
  });
});
