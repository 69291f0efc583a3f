import { join } from 'node:path';
import { expect } from 'chai';
import Database from 'libsql';
import { until } from '../../../engine/test/support/until.ts';
import { audits } from '../../../src/commands/audits.ts';
import { laterBy } from '../../../domain/kernel/amounts.ts';
import type { Reply } from '../support/client.ts';
import { startApi, type TestApi } from '../support/testApi.ts';

describe('an audit over HTTP', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
    await api.newKey('acme');
    for (const credits of [1_000, 2_000]) await api.sell('acme', credits);
  });
  after(() => api.stop());

  const start = (json: object = { log_only: true }) => api.call('post', '/v1/admin/audits', { json });

  const ended = async ({ body }: Reply): Promise<Reply['body']> => {
    const path = `/v1/admin/audits/${String(body['audit_id'])}`;
    await until(async () => (await api.call('get', path)).body['status'] !== 'running');
    return (await api.call('get', path)).body;
  };

  it('is accepted, says how far it is, and gives the report of the command', async () => {
    const started = await start();
    expect(started.status, started.text).to.equal(202);
    expect(started.body).to.include({ status: 'running', stage: 'starting', events: 0, report: null });
    const done = await ended(started);
    expect(done, JSON.stringify(done)).to.include({ status: 'succeeded', error: null });
    expect(done['report']).to.include({ total: 0, read_models: null });
    expect(done['position']).to.equal(done['end_position']);
    const { body } = await api.call('get', '/v1/admin/audits?limit=1');
    const [last] = body['items'] as readonly Record<string, unknown>[];
    expect(last).to.include({ audit_id: done['audit_id'], findings: 0 });
  });

  it('is one at a time, and can be cancelled', async () => {
    const both = await Promise.all([start(), start()]);
    const [started, second] = both[0].status === 202 ? both : [both[1], both[0]];
    expect([second.status, second.code], second.text).to.deep.equal([409, 'audit_running']);
    expect(second.body['audit_id']).to.equal(started.body['audit_id']);
    const path = `/v1/admin/audits/${String(started.body['audit_id'])}/cancel`;
    const cancelled = await api.call('post', path);
    expect(cancelled.body['status']).to.be.oneOf(['cancelled', 'succeeded']);
    expect((await api.call('post', path)).body).to.deep.equal(cancelled.body);
    expect((await ended(await start()))['status']).to.equal('succeeded');
  });

  it('that cannot be made says why: here nobody hands out the read models', async () => {
    const done = await ended(await start({}));
    expect(done).to.include({ status: 'failed', report: null });
    expect(done['error']).to.include('does not hand out its read models');
  });

  it('is 404 when it is not known', async () => {
    for (const id of ['aud_nobody', 'aud_01KF9E6Q3MZJ4T8V2X5Y7A9B0C'])
      for (const [method, path] of [['get', ''] as const, ['post', '/cancel'] as const])
        expect((await api.call(method, `/v1/admin/audits/${id}${path}`)).code).to.equal('audit_not_found');
  });

  it('ends as cancelled, or as interrupted when its process is gone', async () => {
    const deps = {
      objects: api.objects,
      clock: api.deps.clock,
      tell: () => Promise.reject(new Error('not told')),
      onError: (error: unknown) => expect.fail(String(error)),
    };
    const untilAborted: Parameters<typeof audits>[0]['run'] = (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('stopped')));
      });
    const never = audits({ ...deps, run: untilAborted });
    const options = { log_only: true, all: false, tell: false };
    const { record } = await never.start(options, 'key_1');
    const later = () => laterBy(api.deps.clock.now(), 61_000);
    const other = audits({ ...deps, clock: { ...deps.clock, now: later }, run: deps.tell });
    expect(await audits({ ...deps, run: deps.tell }).find(record.audit_id)).to.include({ status: 'running' });
    expect(await other.find(record.audit_id)).to.include({ status: 'interrupted' });
    const stopped = audits({ ...deps, run: untilAborted });
    const given = await stopped.start(options, 'key_1');
    expect((await stopped.start(options, 'key_1')).kind).to.equal('runs_already');
    const cancelled = await stopped.cancel(given.record.audit_id);
    expect(cancelled).to.include({ status: 'cancelled', report: null });
    const one = await stopped.start(options, 'key_1');
    await stopped.close();
    expect(await other.find(one.record.audit_id)).to.include({ status: 'interrupted' });
    await never.close();
  });

  it('shows the event whose byte was changed', async () => {
    const file = new Database(join(api.dataDir, 'events.db'));
    file.exec(
      `UPDATE events SET data = replace(data, '"credits":1000', '"credits":1001')
       WHERE stream = 'account-acme' AND revision = 1`,
    );
    file.close();
    const { report } = (await ended(await start())) as unknown as {
      readonly report: { readonly total: number; readonly findings: readonly object[] };
    };
    expect(report.total).to.be.above(0);
    expect(report.findings[0]).to.include({ check: 'chain', stream: 'account-acme', revision: '1' });
  });
});
