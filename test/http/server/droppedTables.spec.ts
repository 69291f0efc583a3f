import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { missingTables, replaceMissing } from '../../../projections/engine/waiting.ts';
import { READ_MODELS } from '../../../projections/readModels.ts';
import { startApi, type TestApi } from '../support/testApi.ts';

describe('a table of a read model that was dropped', () => {
  let api: TestApi;
  const tenant = `dropped-${randomUUID()}`;
  before(async () => {
    api = await startApi();
    await api.sell(tenant, 1_000);
    await untilReady();
  });
  after(() => api.stop());

  const untilReady = async () => {
    while ((await api.deps.ready()).status !== 'ready') await nextTurn();
  };
  const grants = async () => (await api.call('get', `/v1/billing/grants/${tenant}`)).body['items'];
  const drop = async (table: string) => {
    const [row] = await api.sql.query(
      `select schema_name from projections.registry where serves and name = $1`,
      [table],
    );
    await api.sql.script(`drop table ${String(row?.['schema_name'])}.${table} cascade`);
  };

  it('is named by the next probe, and filled again from the log', async () => {
    const before = await grants();
    expect(before).to.have.length(1);
    await drop('grants');
    expect(await api.deps.ready()).to.deep.equal({
      status: 'not_ready',
      waiting_for: ['read_models.grants'],
    });
    const replaced = await replaceMissing(api.sql, READ_MODELS);
    expect(replaced.map(({ tables }) => tables)).to.deep.equal([['grants']]);
    await untilReady();
    expect(await grants()).to.deep.equal(before);
    expect(await replaceMissing(api.sql, READ_MODELS)).to.deep.equal([]);
  });

  it('is filled again, too, where its projector has stopped for the want of it', async () => {
    await drop('grants');
    await api.sell(tenant, 2_000);
    const stopped = async () =>
      (await api.sql.query(`select 1 as one from projections.registry where state = 'stopped'`)).length > 0;
    while (!(await stopped())) await nextTurn();
    await replaceMissing(api.sql, READ_MODELS);
    await untilReady();
    expect(await grants()).to.have.length(2);
  });

  it('loses no rows when only its view was dropped', async () => {
    await api.sql.script('drop view read.grants');
    expect((await api.deps.ready()).waiting_for).to.deep.equal(['read_models.grants']);
    const [replaced] = await replaceMissing(api.sql, READ_MODELS);
    expect(replaced).to.deep.include({ tables: [], views: ['grants'] });
    expect(await missingTables(api.sql, READ_MODELS)).to.deep.equal([]);
    expect(await grants()).to.have.length(2);
  });
});
