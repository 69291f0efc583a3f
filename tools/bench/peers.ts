import { createRequire } from 'node:module';
import { join } from 'node:path';
import pg from 'pg';
import { Redis } from 'ioredis';
import { seededRandom } from '../../engine/test/support/random.ts';
import type { Run } from '../../engine/test/bench/measure.ts';
import {
  START_CREDITS,
  timedBurns,
  postmasterOf,
  redisProcess,
  type Contestant,
  type Load,
} from './contestants.ts';
import { until } from '../../engine/test/support/until.ts';
import { tempDatabase } from '../../test/support/tempDatabase.ts';

/**
 * Double entry as ledgers in SQL document it (pgledger, Formance): a transfer between two accounts in one function,
 * which locks both in one order, moves both balances and writes two entries with the balances before and after.
 */
const SCHEMA = `
drop schema if exists bench_double cascade;
create schema bench_double;
create table bench_double.accounts (
  id bigint generated always as identity primary key, name text not null unique,
  balance bigint not null default 0, version bigint not null default 0, may_be_negative boolean not null,
  updated_at timestamptz not null default now());
create table bench_double.transfers (
  id bigint generated always as identity primary key,
  from_id bigint not null references bench_double.accounts, to_id bigint not null references bench_double.accounts,
  amount bigint not null check (amount > 0), idempotency_key text not null,
  created_at timestamptz not null default now(), unique (from_id, idempotency_key));
create index on bench_double.transfers (to_id);
create table bench_double.entries (
  id bigint generated always as identity primary key,
  account_id bigint not null references bench_double.accounts,
  transfer_id bigint not null references bench_double.transfers,
  amount bigint not null, balance_before bigint not null, balance_after bigint not null,
  account_version bigint not null, created_at timestamptz not null default now());
create index on bench_double.entries (account_id, account_version);
create index on bench_double.entries (transfer_id);
create function bench_double.transfer(source text, target text, moved bigint, key text) returns bigint
language plpgsql as $$
declare a bench_double.accounts; b bench_double.accounts; made bigint;
begin
  perform 1 from bench_double.accounts where name in (source, target) order by id for update;
  update bench_double.accounts set balance = balance - moved, version = version + 1, updated_at = now()
    where name = source returning * into strict a;
  if a.balance < 0 and not a.may_be_negative then raise exception 'insufficient balance'; end if;
  update bench_double.accounts set balance = balance + moved, version = version + 1, updated_at = now()
    where name = target returning * into strict b;
  insert into bench_double.transfers (from_id, to_id, amount, idempotency_key)
    values (a.id, b.id, moved, key) returning id into made;
  insert into bench_double.entries
    (account_id, transfer_id, amount, balance_before, balance_after, account_version)
    values (a.id, made, -moved, a.balance + moved, a.balance, a.version),
           (b.id, made, moved, b.balance - moved, b.balance, b.version);
  return made;
end $$;`;

/** Each tenant pays into an account of its own: one account for all would make every tenant a hot one. */
const ACCOUNTS = `insert into bench_double.accounts (name, balance, may_be_negative)
  select kind || n, case kind when 'credits-t' then $1::bigint else 0 end, kind = 'issued-t'
  from generate_series(0, $2::int - 1) n, unnest(array['credits-t', 'used-t']) kind`;

const TRANSFER = {
  name: 'transfer',
  text: 'select bench_double.transfer($1, $2, 1, $3)',
};

/** Every account is the sum of its entries, every transfer nets to nothing, one transfer for each acknowledged. */
const verifyEntries = async (pool: pg.Pool, { tenants }: Load, done: number): Promise<void> => {
  const { rows } = await pool.query<Readonly<Record<string, string>>>(`select
    (select count(*) from bench_double.transfers) as transfers,
    (select sum(amount) from bench_double.entries) as net,
    (select sum(balance) from bench_double.accounts where name like 'credits-%') as credits,
    (select count(*) from bench_double.accounts a where name like 'used-%' and balance <> coalesce(
      (select sum(amount) from bench_double.entries e where e.account_id = a.id), 0)) as drifted`);
  const [books] = rows;
  const credits = String(tenants * START_CREDITS - done);
  if (books?.['transfers'] !== String(done) || books['net'] !== '0' || books['drifted'] !== '0')
    throw new Error(`the books of double entry do not balance: ${JSON.stringify({ ...books, done })}`);
  if (books['credits'] !== credits)
    throw new Error(`${String(books['credits'])} credits are left, not ${credits}`);
};

const runEntries = async (url: string, load: Load): Promise<Run> => {
  const pool = new pg.Pool({ connectionString: url, max: load.inFlight + 1 });
  try {
    await pool.query(SCHEMA);
    await pool.query(ACCOUNTS, [START_CREDITS, load.tenants]);
    await pool.query('analyze bench_double.accounts');
    const clients = await Promise.all(Array.from({ length: load.inFlight }, () => pool.connect()));
    const random = seededRandom(load.seed);
    const server = await postmasterOf(url);
    const once = async (caller: number, turn: number) => {
      const n = random.between(0, load.tenants - 1);
      const values = [`credits-t${n}`, `used-t${n}`, `k${caller}-${turn}`];
      await clients[caller]?.query({ ...TRANSFER, values });
    };
    const result = await timedBurns(load, { once, server });
    for (const client of clients) client.release();
    await verifyEntries(pool, load, result.done);
    return result;
  } finally {
    await pool.query('drop schema if exists bench_double cascade');
    await pool.end();
  }
};

export const doubleEntry = (url: string): Contestant => ({
  name: 'Double entry in SQL, one function',
  run: (load) => runEntries(url, load),
});

/** Balance, keys and ledger of one tenant; the key and the credits. 1: burned. */
const BURN = `
if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1 then return 0 end
if tonumber(redis.call('GET', KEYS[1])) < tonumber(ARGV[2]) then return -1 end
local left = redis.call('DECRBY', KEYS[1], ARGV[2])
redis.call('HSET', KEYS[2], ARGV[1], left)
redis.call('XADD', KEYS[3], '*', 'key', ARGV[1], 'credits', -ARGV[2], 'balance', left)
return 1`;

const SETTINGS = { appendfsync: 'always', appendonly: 'yes' } as const;

/** Every answer waits for the disk while `work` runs; the server's own settings come back afterwards. */
const durably = async <T>(redis: Redis, work: () => Promise<T>): Promise<T> => {
  const before: [string, string][] = [];
  for (const [name, value] of Object.entries(SETTINGS)) {
    const [, earlier] = (await redis.config('GET', name)) as [string, string];
    before.unshift([name, earlier]);
    await redis.config('SET', name, value);
  }
  const ready = /aof_rewrite_in_progress:0[\s\S]*aof_rewrite_scheduled:0/;
  await until(async () => ready.test(await redis.info('persistence')));
  try {
    return await work();
  } finally {
    for (const [name, value] of before) await redis.config('SET', name, value);
  }
};

const verifyLua = async (redis: Redis, { tenants }: Load, done: number): Promise<void> => {
  let [burned, keys, rows] = [0, 0, 0];
  for (let n = 0; n < tenants; n += 1) {
    burned += START_CREDITS - Number(await redis.get(`balance:t${n}`));
    keys += await redis.hlen(`keys:t${n}`);
    rows += await redis.xlen(`ledger:t${n}`);
  }
  if (burned !== done || keys !== done || rows !== done)
    throw new Error(`the books of Redis do not balance: ${JSON.stringify({ burned, keys, rows, done })}`);
};

const runLua = async (url: string, load: Load): Promise<Run> => {
  const redis = new Redis(url);
  try {
    return await durably(redis, async () => {
      await redis.flushdb();
      for (let n = 0; n < load.tenants; n += 1) await redis.set(`balance:t${n}`, START_CREDITS);
      const script = String(await redis.script('LOAD', BURN));
      const random = seededRandom(load.seed);
      const once = async (caller: number, turn: number) => {
        const tenant = `t${random.between(0, load.tenants - 1)}`;
        const names = [`balance:${tenant}`, `keys:${tenant}`, `ledger:${tenant}`];
        const burned = await redis.evalsha(script, names.length, ...names, `k${caller}-${turn}`, 1);
        if (burned !== 1) throw new Error(`Redis: ${String(burned)}`);
      };
      const result = await timedBurns(load, { once, server: redisProcess(await redis.info('server')) });
      await verifyLua(redis, load, result.done);
      await redis.flushdb();
      return result;
    });
  } finally {
    redis.disconnect();
  }
};

/** A script on Redis, which answers when its file is on the disk. The Redis is emptied. */
export const redisLua = (url: string): Contestant => ({
  name: 'Redis, Lua, appendfsync always',
  run: (load) => runLua(url, load),
});

/**
 * What the benchmark calls of Emmett. It is not among our dependencies, for it asks for an older release of one:
 * `npm install --prefix <folder> @event-driven-io/emmett@0.42.0 @event-driven-io/emmett-postgresql@0.42.0`.
 */
interface AccountEvent {
  readonly type: 'CreditsAdjusted' | 'CreditsBurned';
  readonly data: { readonly tenant: string; readonly key: string; readonly credits: number };
}

interface EmmettStore {
  readonly appendToStream: (
    stream: string,
    events: readonly AccountEvent[],
    options?: { readonly expectedStreamVersion: bigint },
  ) => Promise<{ readonly nextExpectedStreamVersion: bigint }>;
  readonly close: () => Promise<void>;
}

interface Folding<State> {
  readonly evolve: (state: State, event: AccountEvent) => State;
  readonly initialState: () => State;
}

interface Emmett {
  readonly CommandHandler: <State>(
    folding: Folding<State>,
  ) => (store: EmmettStore, stream: string, decide: (state: State) => AccountEvent[]) => Promise<unknown>;
}

interface Projection {
  readonly name: string;
  readonly canHandle: readonly string[];
  readonly evolve: (event: AccountEvent) => unknown;
}

interface EmmettPostgres {
  readonly getPostgreSQLEventStore: (
    url: string,
    options: { readonly projections: readonly { readonly type: 'inline'; readonly projection: unknown }[] },
  ) => EmmettStore;
  readonly postgreSQLRawSQLProjection: (projection: Projection) => unknown;
}

interface EmmettSql {
  readonly SQL: (text: TemplateStringsArray, ...values: readonly unknown[]) => unknown;
}

/** An account as its hand-written decider remembers it. */
interface Account {
  balance: number;
  readonly keys: Set<string>;
}

const initialState = (): Account => ({ balance: 0, keys: new Set() });

/** In place: the state belongs to one command, or to one turn after the other. */
const evolve = (state: Account, { type, data }: AccountEvent): Account => {
  state.balance += type === 'CreditsAdjusted' ? data.credits : -data.credits;
  state.keys.add(data.key);
  return state;
};

const decide = (state: Account, tenant: string, key: string): AccountEvent[] => {
  if (state.keys.has(key)) return [];
  if (state.balance < 1) throw new Error(`${tenant}: insufficient balance`);
  return [{ type: 'CreditsBurned', data: { tenant, key, credits: 1 } }];
};

const start = (tenant: string): AccountEvent => ({
  type: 'CreditsAdjusted',
  data: { tenant, key: 'start', credits: START_CREDITS },
});

type Burn = (tenant: string, key: string) => Promise<void>;

/** One command of a stream at a time: those beside it would only find their version taken, and start again. */
const inTurn = (burn: Burn): Burn => {
  const last = new Map<string, Promise<void>>();
  return (tenant, key) => {
    const next = (last.get(tenant) ?? Promise.resolve()).then(() => burn(tenant, key));
    last.set(tenant, next);
    return next;
  };
};

/** As the documentation shows: each command reads its stream, decides and appends. */
const readingBurn = ({ CommandHandler }: Emmett, store: EmmettStore): Burn => {
  const handle = CommandHandler({ evolve, initialState });
  return async (tenant, key) => {
    await handle(store, `account-${tenant}`, (state) => decide(state, tenant, key));
  };
};

/** What a hand that knows that it is the only writer makes of it: states stay in memory, nothing is read again. */
const rememberingBurn = (_: Emmett, store: EmmettStore): Burn => {
  const known = new Map<string, { readonly state: Account; version: bigint }>();
  return async (tenant, key) => {
    const account = known.get(tenant) ?? { state: evolve(initialState(), start(tenant)), version: 1n };
    known.set(tenant, account);
    const events = decide(account.state, tenant, key);
    const at = { expectedStreamVersion: account.version };
    const { nextExpectedStreamVersion } = await store.appendToStream(`account-${tenant}`, events, at);
    events.reduce(evolve, account.state);
    account.version = nextExpectedStreamVersion;
  };
};

/** One read model, a balance a tenant, in the transaction of the append. */
const balances = ({ postgreSQLRawSQLProjection }: EmmettPostgres, { SQL }: EmmettSql) =>
  postgreSQLRawSQLProjection({
    name: 'balances',
    canHandle: ['CreditsAdjusted', 'CreditsBurned'],
    evolve: ({ type, data: { tenant, credits } }) => {
      const moved = type === 'CreditsAdjusted' ? credits : -credits;
      return SQL`insert into bench_balances as b values (${tenant}, ${moved})
        on conflict (tenant_id) do update set balance = b.balance + excluded.balance`;
    },
  });

type Database = Awaited<ReturnType<typeof tempDatabase>>;

const verifyEmmett = async (database: Database, { tenants }: Load, done: number): Promise<void> => {
  const [books] = await database.run(`select
    (select count(*) from emt_messages where message_type = 'CreditsBurned') as burns,
    (select count(distinct (stream_id, message_data->>'key')) from emt_messages
      where message_type = 'CreditsBurned') as keys,
    (select sum(balance) from bench_balances) as balance`);
  const { burns, keys, balance } = books ?? {};
  const left = String(tenants * START_CREDITS - done);
  if (burns !== String(done) || keys !== burns || balance !== left)
    throw new Error(`the books of Emmett do not balance: ${JSON.stringify({ ...books, done })}`);
};

/** Its pool ends later than it says, and what ends a session meanwhile ends the process. */
const sessionsOf = async (database: Database): Promise<number> => {
  const [row] = await database.run(`select count(*)::int as sessions from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`);
  return Number(row?.['sessions']);
};

interface Options {
  readonly url: string;
  readonly folder: string;
  readonly burnOf: typeof readingBurn;
}

const runEmmett = async ({ url, folder, burnOf }: Options, load: Load): Promise<Run> => {
  const required = createRequire(join(folder, 'package.json'));
  const emmett = required('@event-driven-io/emmett') as Emmett;
  const postgres = required('@event-driven-io/emmett-postgresql') as EmmettPostgres;
  const sql = required('@event-driven-io/dumbo') as EmmettSql;
  const database = await tempDatabase(url);
  await database.run('create table bench_balances (tenant_id text primary key, balance bigint not null)');
  const projections = [{ type: 'inline', projection: balances(postgres, sql) }] as const;
  const store = postgres.getPostgreSQLEventStore(database.url, { projections });
  try {
    for (let n = 0; n < load.tenants; n += 1) await store.appendToStream(`account-t${n}`, [start(`t${n}`)]);
    const burn = inTurn(burnOf(emmett, store));
    const random = seededRandom(load.seed);
    const once = (caller: number, turn: number) =>
      burn(`t${random.between(0, load.tenants - 1)}`, `k${caller}-${turn}`);
    const result = await timedBurns(load, { once, server: await postmasterOf(url) });
    await verifyEmmett(database, load, result.done);
    return result;
  } finally {
    await store.close();
    await until(async () => (await sessionsOf(database)) === 0, 50);
    await database.drop();
  }
};

/** Accounts written by hand on Emmett, in databases that are made for each run and dropped again. */
export const emmettAccounts = (url: string, folder: string): readonly Contestant[] => [
  { name: 'Emmett, as documented', run: (load) => runEmmett({ url, folder, burnOf: readingBurn }, load) },
  {
    name: 'Emmett, states in memory',
    run: (load) => runEmmett({ url, folder, burnOf: rememberingBurn }, load),
  },
];
