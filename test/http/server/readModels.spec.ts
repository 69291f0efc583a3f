import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { until } from '../../../engine/test/support/until.ts';
import { testApi } from '../support/testApi.ts';

interface ModelState {
  readonly name: string;
  readonly state: string;
  readonly is_paused: boolean;
  readonly parked: readonly unknown[];
}

describe('read models that an operator pauses', () => {
  const stateOf = async (name: string): Promise<ModelState> => {
    const api = await testApi();
    const { body } = await api.call('get', '/v1/admin/service-state');
    return (body['read_models'] as readonly ModelState[]).find((one) => one.name === name)!;
  };

  it('stay where they are until they are resumed, once or twice', async () => {
    const api = await testApi();
    const pause = () => api.call('post', '/v1/admin/read-models/rate_limits/pause');
    const resume = () => api.call('post', '/v1/admin/read-models/rate_limits/resume');
    try {
      expect((await pause()).body).to.deep.equal({ name: 'rate_limits', is_paused: true, changed: true });
      expect((await pause()).body).to.deep.equal({ name: 'rate_limits', is_paused: true, changed: false });
      expect(await stateOf('rate_limits')).to.include({ state: 'paused', is_paused: true });
      const path = `/v1/admin/tenants/pause-${randomUUID()}/rate-limits`;
      const { status } = await api.call('put', path, { json: { heavy: { rate_per_second: 3, burst: 9 } } });
      expect(status).to.equal(200);
    } finally {
      expect((await resume()).body).to.deep.include({ is_paused: false, changed: true });
    }
    expect((await resume()).body).to.deep.include({ changed: false });
    await until(async () => (await stateOf('rate_limits')).state === 'live');
  });

  it('are named by the routes, and nothing else is', async () => {
    const api = await testApi();
    for (const what of ['pause', 'resume', 'retry']) {
      const path = `/v1/admin/read-models/${encodeURIComponent("x'; drop schema read")}/${what}`;
      const { status, body } = await api.call('post', path, { json: {} });
      expect(status, what).to.equal(422);
      expect(body['code'], what).to.equal('validation_error');
    }
  });

  it('try nobody again where nobody is parked', async () => {
    const api = await testApi();
    const path = '/v1/admin/read-models/ledger/retry';
    expect((await api.call('post', path, { json: {} })).body).to.deep.equal({ name: 'ledger', retrying: 0 });
    const other = await api.call('post', path, { json: { tenant_id: `t-${randomUUID()}` } });
    expect(other.body).to.deep.equal({ name: 'ledger', retrying: 0 });
    expect((await api.call('post', path, { json: { tenant: 't' } })).status).to.equal(422);
    expect((await stateOf('ledger')).parked).to.deep.equal([]);
  });
});
