import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { startEsdbDouble, type EsdbDouble } from '../support/esdbDouble/esdbDouble.ts';
import { replicaOf, type Replica } from '../support/fleet/processes.ts';
import { client, type Client } from '../http/support/client.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';

const SERVER = process.env['DATABASE_URL'];
const SCRIPT = new URL('../../../docs/hardening/postgres-roles.sql', import.meta.url);
const PASSWORD = 'of-no-use-outside-of-this-spec';

const run = async (url: string, text: string): Promise<readonly Readonly<Record<string, unknown>>[]> => {
  const connection = new pg.Client({ connectionString: url });
  await connection.connect();
  try {
    return (await connection.query<Record<string, unknown>>(text)).rows;
  } finally {
    await connection.end();
  }
};

/** The message that the server refuses a statement with; undefined when it runs. */
const refusalOf = async (url: string, text: string): Promise<string | undefined> => {
  try {
    await run(url, text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

describe('least privilege on PostgreSQL', () => {
  if (SERVER === undefined) {
    it('runs when DATABASE_URL names a server');
    return;
  }

  // Roles belong to the whole server: those of this spec have names of their own.
  const own = `q${randomUUID().slice(0, 8)}`;
  const database = `${own}_database`;
  const folder = tempFolder();
  const urlAs = (user: string): string => {
    const url = new URL(SERVER);
    [url.username, url.password, url.pathname] = [`${own}_${user}`, PASSWORD, `/${database}`];
    return url.href;
  };
  const asOwner = (): string => {
    const url = new URL(SERVER);
    url.pathname = `/${database}`;
    return url.href;
  };
  const script = async (): Promise<string> =>
    (await readFile(SCRIPT, 'utf8')).replaceAll('quire_', `${own}_`);

  let log: EsdbDouble;
  let replicas: Replica[] = [];
  let api: Client;

  const replica = async (role: 'api' | 'projector' | 'worker', user: string): Promise<Replica> => {
    const env = { DATABASE_URL: urlAs(user), EVENTSTORE_URL: log.connectionString };
    const one = await replicaOf({ name: role, role, dataDir: join(folder.path, role), env });
    replicas.push(one);
    await one.start();
    return one;
  };

  before(async () => {
    log = await startEsdbDouble();
    await run(SERVER, `create database ${database}`);
    await run(asOwner(), await script());
    for (const user of ['projector', 'app', 'reader'])
      await run(SERVER, `alter role ${own}_${user} password '${PASSWORD}'`);
    await replica('projector', 'projector');
    const { url } = await replica('api', 'app');
    await replica('worker', 'app');
    api = client(url);
    await api.newKey('rich');
    expect((await api.sell('rich', 5_000)).status).to.equal(200);
  });
  after(async () => {
    await Promise.all(replicas.map((one) => one.kill('SIGKILL')));
    replicas = [];
    await log.close();
    await run(SERVER, `drop database if exists ${database} with (force)`);
    for (const user of ['projector', 'app', 'reader'])
      await run(SERVER, `drop role if exists ${own}_${user}`);
    folder.remove();
  });

  const SCHEMA_OF_BALANCES = `select schema_name from projections.registry where name = 'balances' and serves`;

  it('is enough to serve: money, reads and replays, by processes of three roles', async () => {
    const balance = await api.call('get', '/v1/billing/balance/rich');
    expect(balance.body['balance_credits']).to.equal(5_000);
    const adjust = () =>
      api.call('post', '/v1/admin/tenants/rich/adjust-credits', {
        json: { credits: 7, reason: 'spec' },
        headers: { 'idempotency-key': 'once' },
      });
    expect((await adjust()).status).to.equal(200);
    const again = await adjust();
    expect([again.status, again.headers.get('idempotent-replayed')]).to.deep.equal([200, 'true']);
    const listed = await api.call('get', '/v1/admin/tenants');
    expect(listed.text).to.include('"rich"');
    const [row] = await run(
      urlAs('reader'),
      `select balance_credits from read.balances where tenant_id = 'rich'`,
    );
    expect(Number(row?.['balance_credits'])).to.equal(5_007);
  });

  it('lets the API neither drop nor change a read model, nor make anything', async () => {
    const [serving] = await run(asOwner(), SCHEMA_OF_BALANCES);
    const schema = String(serving?.['schema_name']);
    for (const text of [
      `update read.balances set balance_credits = 1000000`,
      `insert into read.balances (tenant_id) values ('ghost')`,
      `delete from read.balances`,
      `drop view read.balances`,
      `select * from ${schema}.balances`,
      `update ${schema}.balances set balance_credits = 1000000`,
      `drop schema ${schema} cascade`,
      `truncate projections.registry`,
      `update projections.registry set state = 'retired'`,
      `drop table http_cache.replays`,
      `create schema mine`,
      `create table public.mine (a int)`,
      `create table read.mine (a int)`,
      `alter role ${own}_app superuser`,
      `copy (select 1) to program 'true'`,
    ])
      expect(await refusalOf(urlAs('app'), text), text).to.match(
        /permission denied|must be (owner|superuser)/,
      );
    expect((await api.call('get', '/v1/billing/balance/rich')).status).to.equal(200);
  });

  it('lets a reader read read models, and neither caches, states nor locks', async () => {
    const reader = urlAs('reader');
    expect(await refusalOf(reader, 'select count(*) from read.ledger')).to.equal(undefined);
    for (const text of [
      'select * from http_cache.replays',
      'select * from projections.registry',
      `update read.balances set balance_credits = 0`,
      'create temporary table mine as select 1',
      'create table public.mine (a int)',
      'select pg_advisory_lock(1)',
      'select pg_try_advisory_lock(1903520110)',
      `select pg_read_file('/etc/passwd')`,
    ])
      expect(await refusalOf(reader, text), text).to.match(/permission denied|read-only/);
  });

  it('holds for views that are made anew, and the script may be run again', async () => {
    await run(urlAs('projector'), 'create view read.later as select 1 as one');
    expect(await refusalOf(urlAs('reader'), 'select * from read.later')).to.equal(undefined);
    expect(await refusalOf(urlAs('app'), 'select * from read.later')).to.equal(undefined);
    await run(urlAs('projector'), 'drop view read.later');
    await run(asOwner(), await script());
    expect((await api.call('get', '/v1/billing/balance/rich')).status).to.equal(200);
  });

  it('is said plainly where it is too little: an API that comes before the projector makes nothing', async () => {
    const empty = `${own}_empty`;
    await run(SERVER, `create database ${empty}`);
    try {
      const url = new URL(asOwner());
      url.pathname = `/${empty}`;
      await run(url.href, await script());
      const env = {
        DATABASE_URL: urlAs('app').replace(database, empty),
        EVENTSTORE_URL: log.connectionString,
      };
      const early = await replicaOf({ name: 'early', role: 'api', dataDir: join(folder.path, 'early'), env });
      const failure = await early.start().then(
        () => 'it started',
        (error: unknown) => String(error),
      );
      expect(failure)
        .to.match(/permission denied/)
        .and.to.not.include(PASSWORD);
    } finally {
      await run(SERVER, `drop database if exists ${empty} with (force)`);
    }
  });
});
