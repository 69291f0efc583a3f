import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEventStoreDb } from '../../adapters/eventstoredb/eventStoreDb.ts';
import { openSqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import type { EventFeed, EventStore } from '../../domain/ports/log.ts';
import { cpuMsOf } from '../../engine/test/bench/cpu.ts';
import { closedLoop, median } from '../../engine/test/bench/measure.ts';
import { seededRandom } from '../../engine/test/support/random.ts';
import { eachOf } from '@quire/engine/models/byModel/modelWorkDeps';
import { copyLogBetween } from '../../src/backup/backup.ts';
import { accountWriter } from '../../src/writer/accountWriter.ts';
import { eventStoreServer } from '../../test/support/fleet/servers.ts';
import { adjustment, charge } from '../../test/support/money/accountCommands.ts';
import { START_CREDITS } from './contestants.ts';
import { writeTradingLog } from './tradingLog.ts';

/**
 * The embedded log and a server's side by side: burns, reads, and the copy of one to the other. EVENTSTORE_URL names an
 * empty server; without it the specs' double is started, whose own cost says nothing of a server: then what this
 * process takes is what counts.
 */
const { env } = process;
const EVENTS = Number(env['BENCH_EVENTS'] ?? 50_000);
const ROUNDS = Number(env['BENCH_ROUNDS'] ?? 3);
const BURNS = Number(env['BENCH_UNITS'] ?? 20_000);
const ONLY = env['BENCH_ONLY'] ?? '';

type Log = EventStore & EventFeed;

const wants = (part: string): boolean => part.includes(ONLY);

/** What `work` did in a second, and the CPU µs of this process, all its threads, for each. */
const timed = async (work: () => Promise<number>) => {
  const [at, cpu] = [performance.now(), process.cpuUsage()];
  const done = await work();
  const { user, system } = process.cpuUsage(cpu);
  return { perSecond: done / ((performance.now() - at) / 1000), cpuUs: (user + system) / done };
};

type Timed = Awaited<ReturnType<typeof timed>>;

const medians = (runs: readonly Timed[]): Timed => ({
  perSecond: median(runs.map(({ perSecond }) => perSecond)),
  cpuUs: median(runs.map(({ cpuUs }) => cpuUs)),
});

/** Both logs in turn. */
const compared = async (title: string, sides: readonly (() => Promise<number>)[]): Promise<void> => {
  const runs: Timed[][] = sides.map(() => []);
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [at, side] of sides.entries()) runs[at]?.push(await timed(side));
  const [embedded, server] = runs.map(medians);
  if (embedded === undefined || server === undefined) return;
  const share = (server.perSecond / embedded.perSecond).toFixed(2);
  const each = ({ perSecond, cpuUs }: Timed) => `${perSecond.toFixed(0)} /s, ${cpuUs.toFixed(1)} µs CPU`;
  console.log(`${title}: embedded ${each(embedded)}; server ${each(server)}; share ${share}`);
};

let runs = 0;

const burns = (log: Log, load: { readonly tenants: number; readonly inFlight: number }) => async () => {
  runs += 1;
  const [run, random, writer] = [runs, seededRandom(1), accountWriter({ store: log })];
  const tenantOf = (n: number): string => `r${String(run)}t${String(n)}`;
  for (let n = 0; n < load.tenants; n += 1) await writer.execute(adjustment(tenantOf(n), START_CREDITS));
  const { done } = await closedLoop({ inFlight: load.inFlight, seconds: 600, units: BURNS }, async (c, t) => {
    const tenant = tenantOf(random.between(0, load.tenants - 1));
    const { kind } = await writer.execute(charge(tenant, 1, `k${String(c)}-${String(t)}`));
    if (kind !== 'done') throw new Error(kind);
  });
  await writer.close();
  return done;
};

const count = async (items: AsyncIterable<unknown>): Promise<number> => {
  let all = 0;
  for await (const _ of items) all += 1;
  return all;
};

const feedOf = (log: Log) => async () => {
  let all = 0;
  for await (const { kind } of log.subscribe({})) {
    if (kind === 'caught_up') return all;
    all += 1;
  }
  return all;
};

const streamsOf = async (log: Log): Promise<readonly string[]> => {
  const streams = new Set<string>();
  for await (const { stream } of log.backwards({})) if (stream.startsWith('account-')) streams.add(stream);
  return [...streams];
};

const sum = (counts: readonly number[]): number => counts.reduce((all, one) => all + one, 0);

const streamsIn =
  (log: Log, streams: readonly string[], atOnce = 1) =>
  async () =>
    sum(await eachOf(streams, atOnce, (stream) => count(log.read(stream))));

const lastOf =
  (log: Log, streams: readonly string[], atOnce = 1) =>
  async () =>
    sum(
      await eachOf(streams, atOnce, (stream) =>
        count(log.read(stream, { direction: 'backwards', limit: 1 })),
      ),
    );

/** As many as the service reads beside each other. */
const AT_ONCE = 32;

interface CopyOf {
  readonly folder: string;
  readonly url: string;
  readonly events: number;
  readonly oneByOne: boolean;
}

/** Gives the events a second. */
const copied = async ({ folder, url, events, oneByOne }: CopyOf): Promise<number> => {
  const [at, cpu] = [performance.now(), process.cpuUsage()];
  let peak = 0;
  const look = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 200);
  const { signal } = new AbortController();
  await copyLogBetween({ from: folder, to: url, s3: undefined, oneByOne }, { signal });
  clearInterval(look);
  const { user, system } = process.cpuUsage(cpu);
  const seconds = (performance.now() - at) / 1000;
  console.log(
    `copy of ${String(events)} events${oneByOne ? ', one by one' : ''}: ${seconds.toFixed(1)} s, ` +
      `${(events / seconds).toFixed(0)} /s, ${((user + system) / events).toFixed(1)} µs of CPU an event, ` +
      `at most ${(peak / 2 ** 20).toFixed(0)} MiB`,
  );
  return events / seconds;
};

/** A copy one append at a time to a server of its own, and one as it is made. */
const copies = async (folder: string, url: string): Promise<void> => {
  const path = join(folder, 'events.db');
  const log = { path, events: EVENTS, tenants: 1_000, seed: 1 };
  const events = await writeTradingLog(log, () => undefined);
  const elsewhere = join(folder, 'one-by-one');
  mkdirSync(elsewhere);
  const other = env['EVENTSTORE_URL'] === undefined ? await eventStoreServer(elsewhere) : undefined;
  await other?.start();
  const before =
    other === undefined ? undefined : await copied({ folder, url: other.url, events, oneByOne: true });
  await other?.kill();
  const now = await copied({ folder, url, events, oneByOne: false });
  if (before !== undefined) console.log(`copy: ${(now / before).toFixed(1)} times as fast as one by one`);
};

const main = async (): Promise<void> => {
  const folder = mkdtempSync(join(env['BENCH_DIR'] ?? tmpdir(), 'quire-logs-'));
  const server = await eventStoreServer(folder);
  await server.start();
  const url = env['EVENTSTORE_URL'] ?? server.url;
  if (wants('copy')) await copies(folder, url);
  const embedded = openSqliteEventLog({ path: join(folder, 'events.db') });
  const there = openEventStoreDb({ connectionString: url });
  const logs: readonly Log[] = [embedded, there];
  try {
    if (wants('reads')) {
      const streams = await streamsOf(embedded);
      const large = streams.slice(0, 200);
      await compared('reads: feed', logs.map(feedOf));
      await compared(
        'reads: 200 streams',
        logs.map((log) => streamsIn(log, large)),
      );
      await compared(
        `reads: 200 streams, ${String(AT_ONCE)} at once`,
        logs.map((log) => streamsIn(log, large, AT_ONCE)),
      );
      await compared(
        'reads: backwards',
        logs.map((log) => () => count(log.backwards({}))),
      );
      await compared(
        'reads: last events',
        logs.map((log) => lastOf(log, streams)),
      );
      await compared(
        `reads: last events, ${String(AT_ONCE)} at once`,
        logs.map((log) => lastOf(log, streams, AT_ONCE)),
      );
    }
    if (wants('burns'))
      for (const load of [
        { tenants: 1, inFlight: 16 },
        { tenants: 1, inFlight: 64 },
        { tenants: 200, inFlight: 64 },
      ])
        await compared(
          `burns: ${String(load.tenants)} tenants, ${String(load.inFlight)} in flight`,
          logs.map((log) => burns(log, load)),
        );
    console.log(`the server's CPU in all: ${(cpuMsOf([server.pid()]) / 1000).toFixed(1)} s`);
  } finally {
    await Promise.all(logs.map((log) => log.close()));
    await server.kill();
    rmSync(folder, { recursive: true, force: true });
  }
};

await main();
