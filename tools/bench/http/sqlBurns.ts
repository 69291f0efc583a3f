import pg from 'pg';
import { seededRandom } from '../../../engine/test/support/random.ts';
import { START_CREDITS, timedBurns, type Contestant, type Load } from '../contestant.ts';
import { postmasterOf } from '../databaseProcesses.ts';
import type { Run } from '../../../engine/test/bench/measure.ts';

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
