import { readFileSync } from 'node:fs';
import pg from 'pg';
import { cpuSince, ifThere, runningTrees } from '../../engine/test/bench/cpu.ts';
import { closedLoop, type ClosedLoop, type Run } from '../../engine/test/bench/measure.ts';
import { seededRandom } from '../../engine/test/support/random.ts';

/** What one run does: so many tenants, so many callers at a time. */
export interface Load extends ClosedLoop {
  readonly tenants: number;
  readonly seed: number;
}

/** Credits that every tenant starts with. */
export const START_CREDITS = 1_000_000_000;

/** One way to burn credits durably. A run throws when its books do not balance afterwards. */
export interface Contestant {
  readonly name: string;
  readonly run: (load: Load) => Promise<Run & { readonly note?: string }>;
}

/** What a contestant does for one burn, and what it has still to do when the last is acknowledged. */
interface Work {
  readonly once: (caller: number, turn: number) => Promise<void>;
  readonly after?: () => Promise<void>;
  /** A server that takes part beside this process; undefined if it runs where its CPU time cannot be seen. */
  readonly server?: number | undefined;
}

/** A closed loop with the CPU time of this process, in which callers and contestant are, and of the server. */
export const timedBurns = async (load: Load, work: Work): Promise<Run> => {
  const { once, after } = work;
  const seen = !('server' in work) || work.server !== undefined;
  const spent = cpuSince([process.pid, ...(work.server === undefined ? [] : [work.server])]);
  const run = await closedLoop(load, once);
  await after?.();
  return seen ? { ...run, cpuMs: spent() / Math.max(1, run.done) } : run;
};

const DRIVER_SECONDS = 0.5;

/** Burns nothing: what the callers' loop alone costs, which is in every contestant's CPU time and is taken off it. */
export const driverAlone: Contestant = {
  name: 'the driver alone',
  run: ({ tenants, inFlight, seed }) =>
    timedBurns({ tenants, inFlight, seed, seconds: DRIVER_SECONDS }, { once: () => Promise.resolve() }),
};

/**
 * The processes of the PostgreSQL that a URL names: the first of them, which started the others. Undefined if it runs
 * elsewhere, where nobody here can tell what it takes.
 */
export const postmasterOf = async (url: string): Promise<number | undefined> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const backend = rows[0]?.pid ?? 0;
    const [times] = runningTrees([backend]);
    // On another machine the number may be that of any process here.
    return times !== undefined && runsAs(backend, 'postgres') ? times.parent : undefined;
  } finally {
    await client.end();
  }
};

const runsAs = (pid: number, name: string): boolean =>
  ifThere(() => readFileSync(`/proc/${pid}/comm`, 'utf8')).some((comm) => comm.startsWith(name));

/** The process of a Redis, of which `INFO server` tells; undefined if it runs elsewhere. */
export const redisProcess = (info: string): number | undefined => {
  const pid = Number(/^process_id:(\d+)/m.exec(info)?.[1]);
  return runsAs(pid, 'redis') ? pid : undefined;
};

/** Processes of a side, without the client's: undefined if one of them cannot be seen from here. */
export const sideProcesses = async (
  own: number,
  databaseUrl: string | undefined,
): Promise<readonly number[] | undefined> => {
  if (databaseUrl === undefined) return [own];
  const postmaster = await postmasterOf(databaseUrl);
  return postmaster === undefined ? undefined : [own, postmaster];
};

/** Hand-written SQL as one would write it without events: a balance row and a ledger. */
const SCHEMA = `
drop schema if exists bench_burns cascade;
create schema bench_burns;
create table bench_burns.balances (tenant_id text primary key, balance bigint not null);
create table bench_burns.ledger (
  id bigint generated always as identity primary key,
  tenant_id text not null,
  idempotency_key text not null,
  credits bigint not null,
  balance_after bigint not null,
  unique (tenant_id, idempotency_key)
);`;

const UPDATE = `update bench_burns.balances set balance = balance - $2
  where tenant_id = $1 and balance >= $2 returning balance`;
const INSERT = `insert into bench_burns.ledger (tenant_id, idempotency_key, credits, balance_after)
  values ($1, $2, $3, $4)`;
/** R1's statement: tenant, key, credits. */
export const ONE_STATEMENT = `with debit as (
    update bench_burns.balances set balance = balance - $3
    where tenant_id = $1 and balance >= $3
      and not exists (select 1 from bench_burns.ledger where tenant_id = $1 and idempotency_key = $2)
    returning balance)
  insert into bench_burns.ledger (tenant_id, idempotency_key, credits, balance_after)
  select $1, $2, -$3, balance from debit returning id, balance_after`;

type Burn = (client: pg.PoolClient, tenant: string, key: string) => Promise<void>;

/** R0: BEGIN with the look-up, UPDATE, INSERT, COMMIT; four round trips. */
const fourTrips: Burn = async (client, tenant, key) => {
  const values = `${client.escapeLiteral(tenant)} and idempotency_key = ${client.escapeLiteral(key)}`;
  await client.query(`begin; select 1 from bench_burns.ledger where tenant_id = ${values}`);
  const updated = await client.query<{ balance: string }>({
    name: 'update',
    text: UPDATE,
    values: [tenant, 1],
  });
  const [row] = updated.rows;
  if (row === undefined) throw new Error('too little');
  await client.query({ name: 'insert', text: INSERT, values: [tenant, key, -1, row.balance] });
  await client.query('commit');
};

/** R1: everything in one statement. */
const oneStatement: Burn = async (client, tenant, key) => {
  const { rowCount } = await client.query({ name: 'cte', text: ONE_STATEMENT, values: [tenant, key, 1] });
  if (rowCount !== 1) throw new Error('not burned');
};

/** Makes the tables afresh, with so many tenants `t0`, `t1`, … */
export const prepareBurns = async (pool: pg.Pool, tenants: number): Promise<void> => {
  await pool.query(SCHEMA);
  await pool.query(
    `insert into bench_burns.balances select 't' || n, $1 from generate_series(0, $2::int - 1) n`,
    [START_CREDITS, tenants],
  );
  await pool.query('analyze bench_burns.balances');
};

/** Sum of the ledger = what the balances lost, each key once, one row for each burn acknowledged. */
export const verifyBurns = async (pool: pg.Pool, tenants: number, done: number): Promise<void> => {
  const { rows } = await pool.query<{ drift: string; rows: string; keys: string }>(`
    select (select sum(balance) from bench_burns.balances) - coalesce(sum(credits), 0)
      - ${tenants} * ${START_CREDITS}::bigint as drift,
      count(*) as rows, count(distinct (tenant_id, idempotency_key)) as keys from bench_burns.ledger`);
  const [books] = rows;
  if (books?.drift !== '0' || books.rows !== String(done) || books.keys !== books.rows)
    throw new Error(`the books of SQL do not balance: ${JSON.stringify({ ...books, done })}`);
};

const run = async (url: string, burn: Burn, load: Load): Promise<Run> => {
  const pool = new pg.Pool({ connectionString: url, max: load.inFlight + 1 });
  try {
    await prepareBurns(pool, load.tenants);
    const clients = await Promise.all(Array.from({ length: load.inFlight }, () => pool.connect()));
    const random = seededRandom(load.seed);
    const server = await postmasterOf(url);
    const once = (caller: number, turn: number) =>
      burn(clients[caller]!, `t${random.between(0, load.tenants - 1)}`, `k${caller}-${turn}`);
    const result = await timedBurns(load, { once, server });
    for (const client of clients) client.release();
    await verifyBurns(pool, load.tenants, result.done);
    return result;
  } finally {
    await pool.query('drop schema if exists bench_burns cascade');
    await pool.end();
  }
};

/** The baselines of hand-written SQL on a real Postgres. */
export const sqlContestants = (url: string): readonly Contestant[] => [
  { name: 'R0: SQL, 4 round trips', run: (load) => run(url, fourTrips, load) },
  { name: 'R1: SQL, one statement', run: (load) => run(url, oneStatement, load) },
];

/** Settings that decide what "durable" means there. */
export const serverSettings = async (url: string): Promise<string> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ text: string }>(
    `select string_agg(name || '=' || setting, ' ' order by name) as text from pg_settings
     where name in ('server_version', 'fsync', 'synchronous_commit', 'shared_buffers')`,
  );
  await client.end();
  return rows[0]?.text ?? '';
};
