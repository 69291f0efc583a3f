import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { READ_MODELS } from '../../../projections/readModels.ts';
import { formOf, INVOICE } from '../support/client.ts';
import { testApi } from '../support/testApi.ts';

type Counts = readonly { readonly kind: string; readonly status: string; readonly count: number }[];

describe('the state of the service', () => {
  it('has every part, every read model up to the end of the log, and what waits', async () => {
    const api = await testApi();
    const tenant = `state-${randomUUID()}`;
    const waiting = async (): Promise<number> => {
      const { body } = await api.call('get', '/v1/admin/service-state');
      return (body['work'] as Counts)
        .filter(({ kind, status }) => kind === 'operations' && status === 'queued')
        .reduce((sum, { count }) => sum + count, 0);
    };
    const before = await waiting();
    const { status, text } = await api.call('post', '/v1/to-markdown', {
      headers: { prefer: 'respond-async' },
      form: formOf({ tenant_id: tenant }, INVOICE),
    });
    expect(status, text).to.equal(202);
    expect(await waiting()).to.equal(before + 1);
    await api.signOfLife();
    const { body } = await api.call('get', '/v1/admin/service-state');
    expect(body).to.deep.include({ status: 'ok', draining: false, roles: ['api', 'projector', 'worker'] });
    const models = body['read_models'] as readonly { name: string; lag_events: number; state: string }[];
    expect(models.map(({ name }) => name).sort()).to.deep.equal(READ_MODELS.map(({ name }) => name).sort());
    for (const model of models) expect(model).to.include({ state: 'live', lag_events: 0 });
    expect(body['slots']).to.include({ in_use: 0 });
    const replicas = body['replicas'] as readonly object[];
    expect(replicas[0]).to.deep.include({
      replica_id: 'replica-1',
      version: body['version'],
      roles: ['api'],
    });
  });
});
