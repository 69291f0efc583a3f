import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemTimers } from '../../adapters/local/local.ts';
import { openSqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import { postgresSql } from '../../adapters/postgres.ts';
import { decodeAny } from '../../domain/catalogue.ts';
import type { KnownLog } from '../../domain/ports/log.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import { bulk } from '../../projections/engine/bulk.ts';
import type { Sql } from '../../projections/engine/ports.ts';
import { rebuildReadModels } from '../../projections/engine/rebuild.ts';
import type { FillPart } from '../../projections/engine/spreading.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import { partsInThreads } from '../../src/operator/rebuildInThreads.ts';
import { logFileIn } from '../../src/parts/stores.ts';
import { cpuSince } from '../../engine/test/bench/cpu.ts';
import { postmasterOf } from './contestants.ts';
import { tellFigures } from './figures.ts';
import { EMPTY_DATABASE } from './live.ts';
import { median } from '../../engine/test/bench/measure.ts';
import { writeTradingLog } from './tradingLog.ts';

/** What a contestant came to. */
interface Built {
  readonly name: string;
  readonly events: number;
  readonly seconds: number;
  /** Of this process and the database's, an event; missing where it cannot be told. */
  readonly cpuMs?: number;
  /** Highest resident memory of this process meanwhile, MB. */
  readonly rssMb: number;
}

/** Every event of the log, in its order; at most `limit`. */
async function* eventsOf(feed: KnownLog, limit = Infinity): AsyncGenerator<RecordedEvent> {
  let left = limit;
  const done = new AbortController();
  for await (const item of feed.subscribe({ signal: done.signal })) {
    if (item.kind === 'caught_up') break;
    if (item.kind !== 'event') continue;
    yield item.event;
    left -= 1;
    if (left === 0) break;
  }
  done.abort();
}

type Work = (name: string, work: () => Promise<number>) => Promise<Built>;

const timedWith =
  (postmaster: number | undefined): Work =>
  async (name, work) => {
    let rss = 0;
    const sampler = setInterval(() => (rss = Math.max(rss, process.memoryUsage.rss())), 100);
    const spent = cpuSince([process.pid, ...(postmaster === undefined ? [] : [postmaster])]);
    const began = performance.now();
    const events = await work();
    const seconds = (performance.now() - began) / 1000;
    clearInterval(sampler);
    const cpuMs = spent() / events;
    const cpu = postmaster === undefined ? {} : { cpuMs };
    return { name, events, seconds, ...cpu, rssMb: Math.round(rss / 1e6) };
  };

const EMPTY = `${EMPTY_DATABASE};
  drop schema if exists bench_rebuild cascade; create schema bench_rebuild;`;

const SHOWN_EVERY = 100_000;

interface Load {
  readonly sql: Sql;
  readonly feed: KnownLog;
  readonly events: number;
  readonly timed: Work;
}

/** What the read models hold of every tenant agrees with each other. */
const assertBalanced = async (sql: Sql): Promise<void> => {
  const [row] = await sql.query(`select
    (select coalesce(sum(balance_credits), 0)::text from read.balances) as balances,
    (select coalesce(sum(credits_delta), 0)::text from read.ledger) as ledger`);
  const { balances, ledger } = row ?? {};
  if (balances !== ledger || ledger === '0')
    throw new Error(`the read models do not balance: ${String(balances)}, ${String(ledger)}`);
};

const quire = ({ sql, feed, events, timed }: Load) =>
  timed(`Quire: all ${READ_MODELS.length} read models`, async () => {
    let next = SHOWN_EVERY;
    const onProgress = ({ eventsDone, eventsPerSecond }: { eventsDone: number; eventsPerSecond: number }) => {
      if (eventsDone < next) return;
      next += SHOWN_EVERY;
      const rss = Math.round(process.memoryUsage.rss() / 1e6);
      console.log(`  ${eventsDone} events, ${Math.round(eventsPerSecond)} events/s, ${rss} MB`);
    };
    const deps = { sql, feed, projectors: READ_MODELS, decode: decodeAny, timers: systemTimers };
    await rebuildReadModels(deps, { onProgress });
    await assertBalanced(sql);
    return events;
  });

/** One part after the other, each with what it took of the processors. */
const inTurn = (
  fill: FillPart,
  cpu: () => () => number,
): { fill: FillPart; tookMs: () => readonly number[] } => {
  let last: Promise<void> = Promise.resolve();
  const took: number[] = [];
  return {
    fill: (part, watched) => {
      const own = last.then(async () => {
        const spent = cpu();
        await fill(part, watched);
        took.push(spent());
      });
      last = own.catch(() => undefined);
      return own;
    },
    tookMs: () => took,
  };
};

interface SharedLoad extends Load {
  readonly of: number;
  readonly fill: FillPart;
}

/** The same by shares: threads beside each other, or one after the other to learn what each takes. */
const quireByShares = (name: string, { sql, feed, events, timed, of, fill }: SharedLoad) =>
  timed(name, async () => {
    const deps = {
      sql,
      feed,
      projectors: READ_MODELS,
      decode: decodeAny,
      timers: systemTimers,
      fillPart: fill,
    };
    await rebuildReadModels(deps, { shares: of });
    await assertBalanced(sql);
    return events;
  });

const PER_EVENT_MAX = 15_000;

/** The projector of many tutorials: a transaction an event, that moves a balance and a checkpoint. */
const perEvent = ({ sql, feed, events, timed }: Load) =>
  timed('a transaction an event, one balance', async () => {
    const some = Math.min(events, PER_EVENT_MAX);
    await sql.script(`create table bench_rebuild.balances (stream text primary key, credits bigint not null);
      create table bench_rebuild.checkpoint (position bigint not null);
      insert into bench_rebuild.checkpoint values (0)`);
    for await (const { stream, position, data } of eventsOf(feed, some)) {
      const credits = typeof data['credits'] === 'number' ? data['credits'] : 0;
      await sql.transaction(async (tx) => {
        await tx.query(
          `insert into bench_rebuild.balances as b values ($1, $2)
           on conflict (stream) do update set credits = b.credits + excluded.credits`,
          [stream, credits],
        );
        await tx.query('update bench_rebuild.checkpoint set position = $1', [position]);
      });
    }
    return some;
  });

const assertLoaded = async (sql: Sql, events: number): Promise<void> => {
  const [row] = await sql.query('select count(*)::text as loaded from bench_rebuild.events');
  if (Number(row?.['loaded']) < events)
    throw new Error(`${String(row?.['loaded'])} of ${events} events were loaded`);
};

const raw = bulk({ position: 'int8', stream: 'text', type: 'text', data: 'jsonb' });
const LOAD_BATCH = 5_000;

/** Nothing but the copying: events as they are into one table, in large batches. */
const bareLoad = ({ sql, feed, events, timed }: Load) =>
  timed('bare load into one table, batches of 5,000', async () => {
    await sql.script(`create table bench_rebuild.events (position bigint primary key, stream text not null,
      type text not null, data jsonb not null)`);
    const insert = `insert into bench_rebuild.events (${raw.names}) select ${raw.names} from ${raw.source()}`;
    let rows: { position: bigint; stream: string; type: string; data: string }[] = [];
    const flush = async () => {
      await sql.query(insert, raw.values(rows));
      rows = [];
    };
    for await (const { position, stream, type, data } of eventsOf(feed)) {
      rows.push({ position, stream, type, data: JSON.stringify(data) });
      if (rows.length === LOAD_BATCH) await flush();
    }
    if (rows.length > 0) await flush();
    await assertLoaded(sql, events);
    return events;
  });

/** Shares beside each other, then in turn: what the largest of them takes is what more processors come down to. */
const benchShares = async (load: Load, of: number, { databaseUrl, dataDir, cpu }: SharesBench) => {
  const config = { dataDir, databaseUrl, eventStoreUrl: undefined, s3: undefined };
  const threads = partsInThreads(config);
  const named = `Quire by ${of} shares`;
  await load.sql.script(EMPTY);
  const beside = await quireByShares(named, { ...load, of, fill: threads });
  if (cpu === undefined) return [beside];
  await load.sql.script(EMPTY);
  const turns = inTurn(threads, cpu);
  const began = cpu();
  const alone = await quireByShares(`${named}, in turn`, { ...load, of, fill: turns.fill });
  const [all, took] = [began(), turns.tookMs()];
  const inParts = took.reduce((sum, ms) => sum + ms, 0);
  const each = took.map((ms) => (ms / load.events).toFixed(4)).join(', ');
  const longest = (all - inParts + Math.max(...took)) / load.events;
  console.log(`${named}, CPU ms an event: ${each}; besides ${((all - inParts) / load.events).toFixed(4)}`);
  console.log(`  the largest with what no share does: ${longest.toFixed(4)}`);
  return [beside, alone];
};

interface SharesBench {
  readonly databaseUrl: string;
  readonly dataDir: string;
  /** Of this process and the database's; undefined where it cannot be told. */
  readonly cpu: (() => () => number) | undefined;
}

interface RebuildBench {
  readonly databaseUrl: string;
  readonly dataDir: string;
  readonly shares: readonly number[];
  readonly events: number;
  readonly rounds: number;
}

/** All contestants in turn, so many rounds; the last of each is what the table shows beside the spread. */
const benchRebuild = async ({
  databaseUrl,
  dataDir,
  shares,
  events,
  rounds,
}: RebuildBench): Promise<readonly Built[]> => {
  const sql = postgresSql({ url: databaseUrl });
  const feed = openSqliteEventLog({ path: logFileIn(dataDir), readOnly: true });
  const postmaster = await postmasterOf(databaseUrl);
  const load = { sql, feed, events, timed: timedWith(postmaster) };
  const cpu = postmaster === undefined ? undefined : () => cpuSince([process.pid, postmaster]);
  const built: Built[] = [];
  try {
    for (let round = 0; round < rounds; round += 1) {
      await sql.script(EMPTY);
      built.push(await quire(load));
      for (const of of shares) built.push(...(await benchShares(load, of, { databaseUrl, dataDir, cpu })));
      if (shares.length > 0) continue;
      built.push(await bareLoad(load));
      built.push(await perEvent(load));
    }
    await sql.script(EMPTY);
  } finally {
    await feed.close();
    await sql.close();
  }
  return built;
};

const { env } = process;
const databaseUrl = env['BENCH_DATABASE_URL'];
if (databaseUrl === undefined)
  throw new Error('BENCH_DATABASE_URL must name a PostgreSQL that may be emptied');
const events = Number(env['BENCH_EVENTS'] ?? 1_000_000);
const tenants = Number(env['BENCH_TENANTS'] ?? 1_000);
const rounds = Number(env['BENCH_ROUNDS'] ?? 3);
const shares = env['BENCH_SHARES']?.split(',').map(Number) ?? [];
const dataDir = join(env['BENCH_DIR'] ?? tmpdir(), `quire-trading-${events}-${tenants}`);
const logPath = logFileIn(dataDir);

if (!existsSync(logPath)) {
  const began = performance.now();
  mkdirSync(dataDir, { recursive: true });
  console.log(`writing ${events} events of ${tenants} tenants to ${logPath}`);
  const written = await writeTradingLog({ path: logPath, events, tenants, seed: 20261121 }, (done) =>
    process.stderr.write(`\r  ${done} events`),
  );
  const seconds = (performance.now() - began) / 1000;
  console.log(`\r  ${written} events in ${seconds.toFixed(0)} s`);
}

const rateOf = ({ events: n, seconds }: Built): number => n / seconds;

const built = await benchRebuild({ databaseUrl, dataDir, shares, events, rounds });
const names = [...new Set(built.map(({ name }) => name))];
const runsOf = (name: string) => built.filter((run) => run.name === name);
const rates = new Map(names.map((name) => [name, median(runsOf(name).map(rateOf))]));
const rateFor = (start: string): number =>
  [...rates].find(([name]) => name.startsWith(start))?.[1] ?? Number.NaN;
const [ours, bare, single] = [rateFor('Quire:'), rateFor('bare'), rateFor('a transaction')];
console.log(`\n${events} events, ${rounds} rounds; medians`);
console.table(
  Object.fromEntries(
    names.map((name) => {
      const all = runsOf(name).map((run) => Math.round(rateOf(run)));
      const spread = `${Math.min(...all)}–${Math.max(...all)}`;
      const rssMb = Math.max(...runsOf(name).map((run) => run.rssMb));
      const cpu = runsOf(name).flatMap((run) => run.cpuMs ?? []);
      const cpuMs = cpu.length === 0 ? 'unknown' : median(cpu).toFixed(4);
      const rate = Math.round(rates.get(name) ?? 0);
      return [name, { 'events/s': rate, spread, 'CPU ms an event': cpuMs, 'RSS MB': rssMb }];
    }),
  ),
);
if (shares.length === 0) {
  tellFigures({ 'rebuild ÷ bare load': ours / bare, 'rebuild, events/s': ours });
  console.log(
    `Quire ÷ bare load: ${(ours / bare).toFixed(2)}; Quire ÷ a transaction an event: ${(ours / single).toFixed(1)}`,
  );
}
