import { systemTimers } from '../../adapters/embedded/systemTimers.ts';
import { openSqliteEventLog } from '../../adapters/embedded/eventLog/sqliteEventLog.ts';
import { postgresSql } from '../../adapters/postgres/postgresSql.ts';
import { decodeAny } from '../../domain/catalogue.ts';
import type { KnownLog } from '../../domain/ports/knownLog.ts';
import type { RecordedEvent } from '../../domain/ports/eventStore.ts';
import { bulk } from '../../projections/engine/apply/bulk.ts';
import type { Sql } from '../../projections/engine/ports.ts';
import { rebuildReadModels } from '../../projections/engine/rebuild/rebuild.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import { EMPTY_DATABASE } from './live.ts';

/** What a contestant came to. */
export interface Built {
  readonly name: string;
  readonly events: number;
  readonly seconds: number;
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

const timed = async (name: string, work: () => Promise<number>): Promise<Built> => {
  let rss = 0;
  const sampler = setInterval(() => (rss = Math.max(rss, process.memoryUsage.rss())), 100);
  const began = performance.now();
  const events = await work();
  const seconds = (performance.now() - began) / 1000;
  clearInterval(sampler);
  return { name, events, seconds, rssMb: Math.round(rss / 1e6) };
};

const EMPTY = `${EMPTY_DATABASE};
  drop schema if exists bench_rebuild cascade; create schema bench_rebuild;`;

const SHOWN_EVERY = 100_000;

const quire = (sql: Sql, feed: KnownLog, events: number) =>
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
    return events;
  });

const PER_EVENT = 15_000;

/** The projector of many tutorials: a transaction an event, that moves a balance and a checkpoint. */
const perEvent = (sql: Sql, feed: KnownLog) =>
  timed('a transaction an event, one balance', async () => {
    await sql.script(`create table bench_rebuild.balances (stream text primary key, credits bigint not null);
      create table bench_rebuild.checkpoint (position bigint not null);
      insert into bench_rebuild.checkpoint values (0)`);
    for await (const { stream, position, data } of eventsOf(feed, PER_EVENT)) {
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
    return PER_EVENT;
  });

const raw = bulk({ position: 'int8', stream: 'text', type: 'text', data: 'jsonb' });
const LOAD_BATCH = 5_000;

/** Nothing but the copying: events as they are into one table, in large batches. */
const bareLoad = (sql: Sql, feed: KnownLog, events: number) =>
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
    return events;
  });

export interface RebuildBench {
  readonly databaseUrl: string;
  readonly logPath: string;
  readonly events: number;
  readonly rounds: number;
}

/** All contestants in turn, so many rounds; the last of each is what the table shows beside the spread. */
export const benchRebuild = async ({
  databaseUrl,
  logPath,
  events,
  rounds,
}: RebuildBench): Promise<readonly Built[]> => {
  const sql = postgresSql({ url: databaseUrl });
  const feed = openSqliteEventLog({ path: logPath, readOnly: true });
  const built: Built[] = [];
  try {
    for (let round = 0; round < rounds; round += 1) {
      await sql.script(EMPTY);
      built.push(await quire(sql, feed, events));
      built.push(await bareLoad(sql, feed, events));
      built.push(await perEvent(sql, feed));
    }
    await sql.script(EMPTY);
  } finally {
    await feed.close();
    await sql.close();
  }
  return built;
};
