import { createRequire } from 'node:module';
import { join } from 'node:path';
import { tempDatabase } from '../../../test/support/tempDatabase.ts';
import { until } from '../../../engine/test/support/until.ts';
import { seededRandom } from '../../../engine/test/support/random.ts';
import type { Run } from '../../../engine/test/bench/measure.ts';
import { START_CREDITS, timedBurns, type Contestant, type Load } from '../contestant.ts';
import { postmasterOf } from '../databaseProcesses.ts';
import type { AccountEvent, Emmett, EmmettPostgres, EmmettSql, EmmettStore } from './emmettParts.ts';

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

const verify = async (database: Database, { tenants }: Load, done: number): Promise<void> => {
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

const run = async ({ url, folder, burnOf }: Options, load: Load): Promise<Run> => {
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
    await verify(database, load, result.done);
    return result;
  } finally {
    await store.close();
    await until(async () => (await sessionsOf(database)) === 0, 50);
    await database.drop();
  }
};

/** Accounts written by hand on Emmett, in databases that are made for each run and dropped again. */
export const emmettAccounts = (url: string, folder: string): readonly Contestant[] => [
  { name: 'Emmett, as documented', run: (load) => run({ url, folder, burnOf: readingBurn }, load) },
  { name: 'Emmett, states in memory', run: (load) => run({ url, folder, burnOf: rememberingBurn }, load) },
];
