import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PerformanceObserver } from 'node:perf_hooks';
import { openSqliteEventLog } from '../../adapters/embedded/sqliteEventLog.ts';
import { commitGroup, type EncodedAppend } from '../../adapters/embedded/sqliteEventLogCommit.ts';
import { openLogFile } from '../../adapters/embedded/sqliteEventLogFile.ts';
import { accountWriter } from '../../src/commands/accountWriter.ts';
import { START_CREDITS } from '../bench/contestant.ts';
import { closedLoop, type Run } from '../bench/measure.ts';
import { adjustment, charge } from '../support/accountCommands.ts';
import { seededRandom } from '../support/random.ts';
import type { Coefficients } from './coefficients.ts';
import { line, quantiles, round, threadTimes, undisturbedMs } from './probes.ts';

/** Callers that charge accounts in this process, each again as soon as it is answered. */
export interface ClosedLoad {
  readonly tenants: number;
  readonly inFlight: number;
  readonly seconds: number;
}

/** What such a load came to. */
export interface WriterRun extends Run {
  readonly turns: number;
  /** Processor time of the thread that decides, ms, over the whole run. */
  readonly cpuMs: number;
  readonly gcMs: readonly number[];
}

const pausesOf = () => {
  const pauses: number[] = [];
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) pauses.push(duration);
  });
  observer.observe({ entryTypes: ['gc'] });
  return { pauses, stop: () => observer.disconnect() };
};

/** The real account writer on a real embedded log, as `npm run bench:burns` runs it without projections. */
export const runWriter = async (base: string, load: ClosedLoad, seed: number): Promise<WriterRun> => {
  const folder = mkdtempSync(join(base, 'quire-scale-'));
  const log = openSqliteEventLog({ path: join(folder, 'events.db') });
  let turns = 0;
  const writer = accountWriter({ store: log, hooks: { onBatch: () => (turns += 1) } });
  const random = seededRandom(seed);
  const tenants = Array.from({ length: load.tenants }, (_, n) => `t${n}`);
  await Promise.all(tenants.map((tenant) => writer.execute(adjustment(tenant, START_CREDITS))));
  const burn = async (key: string) => {
    const { kind } = await writer.execute(charge(random.pick(tenants), 1, key));
    if (kind !== 'done') throw new Error(`a charge is ${kind}`);
  };
  await closedLoop({ ...load, seconds: 0.5 }, (caller, turn) => burn(`w${caller}-${turn}`));
  const gc = pausesOf();
  turns = 0;
  const cpuBefore = threadTimes().cpuMs;
  const run = await closedLoop(load, (caller, turn) => burn(`k${caller}-${turn}`));
  const cpuMs = threadTimes().cpuMs - cpuBefore;
  gc.stop();
  await writer.close();
  await log.close();
  rmSync(folder, { recursive: true, force: true });
  return { ...run, turns, cpuMs, gcMs: gc.pauses };
};

/** Two shapes of load tell a turn's cost from a command's: one command a turn, and as many as fit. */
export const measureWriter = async (
  base: string,
  seconds: number,
): Promise<Omit<Coefficients['writer'], 'read_ms' | 'fold_event_ms'>> => {
  const single = await runWriter(base, { tenants: 1, inFlight: 1, seconds }, 1);
  const full = await runWriter(base, { tenants: 1, inFlight: 256, seconds }, 2);
  const wide = await runWriter(base, { tenants: 1_000, inFlight: 256, seconds }, 3);
  const runs = [single, full, wide];
  const pauses = runs.flatMap(({ gcMs }) => gcMs);
  const cpuMs = runs.reduce((sum, run) => sum + run.cpuMs, 0);
  const pausedMs = pauses.reduce((sum, ms) => sum + ms, 0);
  // Pauses come on top in the simulation, so what the turns cost is without them.
  const working = 1 - pausedMs / cpuMs;
  const perCommand = runs.map((run): readonly [number, number] => [
    run.turns / run.done,
    (run.cpuMs * working) / run.done,
  ]);
  const { fixed, each } = line(perCommand);
  return {
    turn_ms: round(each),
    command_ms: round(fixed),
    gc_every_ms: round((cpuMs - pausedMs) / Math.max(1, pauses.length)),
    gc_pauses_ms: quantiles(pauses, 40),
  };
};

const DATA = JSON.stringify({ padding: 'x'.repeat(600) });
const METADATA = JSON.stringify({ padding: 'y'.repeat(380) });

const appendOf = (stream: string, expected: number, events: number): EncodedAppend => ({
  stream,
  expected: expected < 0 ? 'no_stream' : BigInt(expected),
  events: Array.from({ length: events }, () => ({
    ...{ id: randomUUID(), type: 'CreditsBurned', data: DATA, metadata: METADATA },
  })),
});

const timesOf = (count: number, once: (turn: number) => void): readonly number[] =>
  Array.from({ length: count }, (_, turn) => undisturbedMs(() => once(turn)));

/** Of trips between threads: the quick ones, which nobody else on the machine has held up. */
const quick = (values: readonly number[]) => quantiles(values)[10] ?? 0;
const median = (values: readonly number[]) => quantiles(values)[50] ?? 0;

/** The log's own commit, durable, with events of the size of a burn; then the way to its thread and back. */
export const measureCommit = async (base: string): Promise<Coefficients['commit']> => {
  const folder = mkdtempSync(join(base, 'quire-scale-'));
  const file = openLogFile(join(folder, 'commit.db'), false);
  const commit = (group: readonly EncodedAppend[]) => {
    const results = commitGroup(file, group);
    if (results.some(({ kind }) => kind !== 'appended')) throw new Error('an append of the probe failed');
  };
  let [serial, single] = [0, -1];
  const one = () => commit([appendOf('account-single', single++, 1)]);
  const MANY = 200;
  timesOf(200, one);
  const singles = timesOf(3_000, one);
  const groups = timesOf(40, () =>
    commit(Array.from({ length: MANY }, () => appendOf(`account-${(serial += 1)}`, -1, 1))),
  );
  const batches = timesOf(40, (turn) => commit([appendOf(`account-batch-${turn}`, -1, MANY)]));
  file.close();

  const log = openSqliteEventLog({ path: join(folder, 'handoff.db') });
  const trips: number[] = [];
  for (let n = -1; n < 1_000; n += 1) {
    const event = { id: randomUUID(), type: 'CreditsBurned', data: {}, metadata: {} };
    const began = performance.now();
    await log.append('account-handoff', n < 0 ? 'no_stream' : BigInt(n), [event]);
    trips.push(performance.now() - began);
  }
  await log.close();
  rmSync(folder, { recursive: true, force: true });
  return {
    single_ms: quantiles(singles),
    append_ms: round(Math.max(0, median(groups) - median(singles)) / (MANY - 1)),
    event_ms: round(Math.max(0, median(batches) - median(singles)) / (MANY - 1)),
    handoff_ms: round(Math.max(0.01, quick(trips) - quick(singles))),
  };
};
