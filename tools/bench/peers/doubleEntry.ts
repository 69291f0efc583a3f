import pg from 'pg';
import { seededRandom } from '../../../engine/test/support/random.ts';
import type { Run } from '../../../engine/test/bench/measure.ts';
import { START_CREDITS, timedBurns, type Contestant, type Load } from '../contestant.ts';
import { postmasterOf } from '../databaseProcesses.ts';

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
const verify = async (pool: pg.Pool, { tenants }: Load, done: number): Promise<void> => {
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

const run = async (url: string, load: Load): Promise<Run> => {
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
    await verify(pool, load, result.done);
    return result;
  } finally {
    await pool.query('drop schema if exists bench_double cascade');
    await pool.end();
  }
};

export const doubleEntry = (url: string): Contestant => ({
  name: 'Double entry in SQL, one function',
  run: (load) => run(url, load),
});
