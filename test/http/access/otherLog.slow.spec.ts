import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { copyEventLog } from '../../../adapters/sqlite/eventLog.ts';
import { runOperation } from '../../../src/operator/runOperation.ts';
import { configFrom } from '../../../src/config.ts';
import { startEsdbDouble, type EsdbDouble } from '../../support/esdbDouble/esdbDouble.ts';
import { startService, type ServiceProcess } from '../../support/serviceProcess.ts';
import { tempFolder, type TempFolder } from '../../../engine/test/support/tempFolder.ts';
import { client, type Client, type Reply } from '../support/client.ts';
import { until } from '../../../engine/test/support/until.ts';

/** With a key: the answer is kept, and given again to whoever sends it again. */
const sell = async (api: Client, provider_txn_id: string, credits: number): Promise<Reply> =>
  api.call('post', '/v1/billing/credits', {
    json: { tenant_id: 'acme', provider_txn_id, credits },
    headers: { 'idempotency-key': `sale-${provider_txn_id}` },
  });

const sold = async (api: Client, provider_txn_id: string, credits: number): Promise<void> => {
  const { status, text, body } = await sell(api, provider_txn_id, credits);
  expect(status, text).to.equal(200);
  expect(body['credited'], text).to.equal(true);
};

const balance = (api: Client): Promise<Reply> => api.call('get', '/v1/billing/balance/acme');

const keyOf = async (api: Client): Promise<string> => {
  const { body } = await api.call('post', '/v1/api-keys', { json: { tenant_id: 'acme' } });
  return String(body['key']);
};

/** Asks until the answer is as wanted. */
const untilAnswered = (ask: () => Promise<Reply>, isThere: (reply: Reply) => boolean): Promise<Reply> =>
  until(async () => {
    const reply = await ask();
    return isThere(reply) ? reply : undefined;
  }, 20);

/** The balance with everything written before: an answer that lags behind says so, and is asked for again. */
const settledBalance = (api: Client): Promise<Reply> =>
  untilAnswered(
    () => balance(api),
    ({ status, headers }) => status === 200 && headers.get('x-projection-lag') === null,
  );

const refused = ({ status, code, text }: Reply): void => {
  expect([status, code], text).to.deep.equal([503, 'not_ready']);
  expect(text).to.contain('quire projections rebuild');
};

const partOf = async (api: Client, part: string): Promise<Readonly<Record<string, unknown>>> => {
  const { body } = await api.call('get', '/health', { key: null });
  return (body['parts'] as Record<string, Record<string, unknown>>)[part]!;
};

/** Every kind of question that is answered from read models. */
const READS = [
  '/v1/billing/balance/acme',
  '/v1/billing/usage/acme',
  '/v1/admin/tenants',
  '/v1/admin/reconciliation',
  '/v1/admin/usage-stats?group_by=tenant_id',
  '/v1/admin/margin-report',
  '/v1/admin/tenants/acme/ledger',
];

const refusesAll = async (api: Client, key: string): Promise<void> => {
  for (const path of READS) refused(await api.call('get', path));
  refused(await api.call('get', '/v1/billing/balance/acme', { key }));
  expect(await partOf(api, 'projections')).to.include({ status: 'degraded' });
  const ready = await api.call('get', '/health/ready', { key: null });
  expect([ready.status, ready.body['waiting_for']]).to.deep.equal([503, ['diverged_read_models']]);
  const metrics = await api.call('get', '/metrics', { key: null });
  expect(metrics.text).to.contain('quire_read_models_diverged 1');
};

describe('read models of another log than the one that is there', function () {
  this.timeout(180_000);
  let folder: TempFolder;
  let service: ServiceProcess | undefined;
  let double: EsdbDouble | undefined;
  beforeEach(() => {
    folder = tempFolder();
  });
  afterEach(async () => {
    await service?.stop('SIGKILL');
    await double?.close();
    [service, double] = [undefined, undefined];
    folder.remove();
  });
  const start = async (env: Readonly<Record<string, string>> = {}): Promise<Client> => {
    service = await startService(folder.path, env);
    return client(service.url);
  };
  const end = async (): Promise<void> => {
    await service?.stop('SIGTERM');
  };
  const rebuild = (env: Readonly<Record<string, string>>): Promise<void> =>
    runOperation(
      configFrom({ DATA_DIR: folder.path, ...env }),
      { name: 'projections.rebuild', input: { names: [], fresh: false, keep: false } },
      { send: () => Promise.resolve(), signal: new AbortController().signal },
    );
  const file = (): string => join(folder.path, 'events.db');
  const LOG_FILES = ['', '-wal', '-shm'];
  const copyLog = (from: string, to: string): Promise<void> => {
    for (const ending of LOG_FILES) rmSync(`${to}${ending}`, { force: true });
    return copyEventLog(from, to, new AbortController().signal);
  };

  /** A service that sold 500, was copied, and sold 200 more. */
  const soldTwice = async (): Promise<string> => {
    const first = await start();
    await sold(first, 'one', 500);
    const key = await keyOf(first);
    await end();
    await copyLog(file(), join(folder.path, 'older.db'));
    const second = await start();
    await sold(second, 'two', 200);
    expect((await settledBalance(second)).body['balance_credits']).to.equal(700);
    await end();
    return key;
  };

  it('are not read and made anew when the embedded log is an older copy', async () => {
    await soldTwice();
    await copyLog(join(folder.path, 'older.db'), file());
    const api = await start();
    const { body } = await untilAnswered(
      () => balance(api),
      ({ status, body: read }) => {
        if (status === 200) expect(read['balance_credits']).to.equal(500);
        return status === 200;
      },
    );
    expect(body['balance_credits']).to.equal(500);
    await sold(api, 'two', 200);
    expect((await settledBalance(api)).body['balance_credits']).to.equal(700);
    const { body: books } = await api.call('get', '/v1/admin/reconciliation?include_ok=true');
    expect(books['drifted']).to.deep.equal([]);
    expect(books['log_id']).to.equal((await partOf(api, 'event_log'))['log_id']);
  });

  it('are not read until a person has them rebuilt, where that is wanted', async () => {
    const key = await soldTwice();
    await copyLog(join(folder.path, 'older.db'), file());
    const api = await start({ REBUILD_DIVERGED: 'manual' });
    await refusesAll(api, key);
    await sold(api, 'three', 50);
    refused(await balance(api));
    await rebuild({});
    const { body } = await settledBalance(api);
    expect(body['balance_credits']).to.equal(550);
    expect((await api.call('get', '/v1/billing/balance/acme', { key })).status).to.equal(200);
    const metrics = await api.call('get', '/metrics', { key: null });
    expect(metrics.text).to.contain('quire_read_models_diverged 0');
  });

  it('are made anew when the embedded log is an empty one', async () => {
    await soldTwice();
    for (const ending of LOG_FILES) rmSync(`${file()}${ending}`, { force: true });
    const api = await start();
    await sold(api, 'one', 40);
    const { body } = await settledBalance(api);
    expect(body['balance_credits']).to.equal(40);
  });

  it('catch up when they are older than the log', async () => {
    const [models, kept] = [join(folder.path, 'read-models'), join(folder.path, 'older-models')];
    const first = await start();
    await sold(first, 'one', 500);
    expect((await settledBalance(first)).body['balance_credits']).to.equal(500);
    await end();
    cpSync(models, kept, { recursive: true });
    const second = await start();
    await sold(second, 'two', 200);
    await end();
    rmSync(models, { recursive: true });
    cpSync(kept, models, { recursive: true });
    const third = await start({ REBUILD_DIVERGED: 'manual' });
    expect((await settledBalance(third)).body['balance_credits']).to.equal(700);
  });

  it('are made anew when log and read models are of two other ages', async () => {
    const [models, kept] = [join(folder.path, 'read-models'), join(folder.path, 'older-models')];
    await soldTwice();
    cpSync(models, kept, { recursive: true });
    const third = await start();
    await sold(third, 'three', 30);
    await end();
    // Both are put back: the log as of the first sale, the read models as of the second.
    await copyLog(join(folder.path, 'older.db'), file());
    rmSync(models, { recursive: true });
    cpSync(kept, models, { recursive: true });
    const api = await start();
    const { body } = await settledBalance(api);
    expect(body['balance_credits']).to.equal(500);
  });

  it('are right without the objects', async () => {
    const api = await start();
    await sold(api, 'one', 500);
    const form = new FormData();
    form.set('file', new Blob(['# Notes\n\nText.\n'], { type: 'text/markdown' }), 'notes.md');
    const headers = { 'idempotency-key': 'work-1' };
    const key = await keyOf(api);
    const made = await api.call('post', '/v1/to-markdown', { form, headers, key });
    expect(made.status, made.text).to.equal(200);
    const before = await settledBalance(api);
    await end();
    rmSync(join(folder.path, 'objects'), { recursive: true });
    const again = await start({ REBUILD_DIVERGED: 'manual' });
    const { body } = await settledBalance(again);
    expect({ ...body, as_of: '' }).to.deep.equal({ ...before.body, as_of: '' });
    const { body: books } = await again.call('get', '/v1/admin/reconciliation');
    expect(books['drifted']).to.deep.equal([]);
  });

  for (const [what, keep] of [
    ['an older copy', true],
    ['an empty one', false],
  ] as const)
    it(`are made anew when the event store comes back with ${what} while the service runs`, async () => {
      double = await startEsdbDouble();
      const api = await start({ EVENTSTORE_URL: double.connectionString, REBUILD_DIVERGED: 'auto' });
      await sold(api, 'one', 500);
      const copied = double.log.all().length;
      await sold(api, 'two', 200);
      expect((await settledBalance(api)).body['balance_credits']).to.equal(700);

      double.goBack(keep ? copied : 0);
      const due = keep ? 500 : undefined;
      await untilAnswered(
        () => balance(api),
        ({ status, body }) => (status === 200 ? body['balance_credits'] === due : status === 404 && !keep),
      );
      await untilAnswered(
        () => sell(api, 'two', 200),
        ({ status, body }) => status === 200 && body['credited'] === true,
      );
      const { body } = await settledBalance(api);
      expect(body['balance_credits']).to.equal(keep ? 700 : 200);
      const { body: books } = await api.call('get', '/v1/admin/reconciliation');
      expect(books['drifted']).to.deep.equal([]);
    });

  it('are not read while the event store is another one, until a person decides', async () => {
    double = await startEsdbDouble();
    const env = { EVENTSTORE_URL: double.connectionString };
    const api = await start(env);
    await sold(api, 'one', 500);
    const key = await keyOf(api);
    const copied = double.log.all().length;
    await sold(api, 'two', 200);
    expect((await settledBalance(api)).body['balance_credits']).to.equal(700);

    double.goBack(copied);
    // the balance reads the log too, and is refused before the read models are known to be of another one
    await untilAnswered(
      () => api.call('get', '/health/ready', { key: null }),
      ({ body }) => JSON.stringify(body['waiting_for']) === '["diverged_read_models"]',
    );
    await refusesAll(api, key);
    await rebuild(env);
    const { body } = await settledBalance(api);
    expect(body['balance_credits']).to.equal(500);
  });
});
