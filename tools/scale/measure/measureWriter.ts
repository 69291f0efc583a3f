import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PerformanceObserver } from 'node:perf_hooks';
import { openSqliteEventLog } from '../../../adapters/sqlite/eventLog.ts';
import { commitGroup, type EncodedAppend, openLogFile } from '../../../adapters/sqlite/eventLogFile.ts';
import type { EventStore } from '../../../domain/ports/log.ts';
import { accountWriter } from '../../../src/writer/accountWriter.ts';
import { START_CREDITS } from '../../bench/contestant.ts';
import { closedLoop, type Run } from '../../../engine/test/bench/measure.ts';
import { adjustment, charge } from '../../../test/support/money/accountCommands.ts';
import { seededRandom } from '../../../engine/test/support/random.ts';
import type { Coefficients } from '../simulation/coefficients.ts';
import { quantiles, round, threadTimes, undisturbedMs } from './probes.ts';

/** Callers that charge accounts in this process, each again as soon as it is answered. */
export interface ClosedLoad {
  readonly tenants: number;
  readonly inFlight: number;
  readonly seconds: number;
}

/** What such a load came to. */
export interface WriterRun extends Run {
  readonly turns: number;
  /** Answers of the log's thread, each for all appends of a group. */
  readonly groups: number;
  /** Processor time of the thread that decides, ms, over the whole run. */
  readonly cpuMs: number;
  /** Share of the run in which that thread was ready and others ran: what a busy machine took from it. */
  readonly waitedShare: number;
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

/** Counts the messages in which a log answers: all that comes in one turn of the event loop is one. */
const countingGroups = (store: EventStore, onGroup: () => void): EventStore => {
  let counted = false;
  return {
    ...store,
    append: async (...append) => {
      const result = await store.append(...append);
      if (!counted) {
        counted = true;
        onGroup();
        setImmediate(() => (counted = false));
      }
      return result;
    },
  };
};

/** Commands until the code is compiled, whatever else the machine does; but no longer than that. */
const WARM_UP = { commands: 15_000, seconds: 8 };

/** The real account writer on a real embedded log, as `npm run bench:burns` runs it without projections. */
export const runWriter = async (base: string, load: ClosedLoad, seed: number): Promise<WriterRun> => {
  const folder = mkdtempSync(join(base, 'quire-scale-'));
  const log = openSqliteEventLog({ path: join(folder, 'events.db') });
  let [turns, groups] = [0, 0];
  const store = countingGroups(log, () => (groups += 1));
  const writer = accountWriter({ store, hooks: { onBatch: () => (turns += 1) } });
  const random = seededRandom(seed);
  const tenants = Array.from({ length: load.tenants }, (_, n) => `t${n}`);
  await Promise.all(tenants.map((tenant) => writer.execute(adjustment(tenant, START_CREDITS))));
  const burn = async (key: string) => {
    const { kind } = await writer.execute(charge(random.pick(tenants), 1, key));
    if (kind !== 'done') throw new Error(`a charge is ${kind}`);
  };
  const warmUntil = performance.now() + WARM_UP.seconds * 1000;
  for (let round = 0, done = 0; done < WARM_UP.commands && performance.now() < warmUntil; round += 1)
    ({ done } = await closedLoop({ inFlight: 64, seconds: 0.25 }, (caller, turn) =>
      burn(`w${round}-${caller}-${turn}`),
    ).then((run) => ({ done: done + run.done })));
  const gc = pausesOf();
  [turns, groups] = [0, 0];
  const before = threadTimes();
  const run = await closedLoop(load, (caller, turn) => burn(`k${caller}-${turn}`));
  const after = threadTimes();
  const cpuMs = after.cpuMs - before.cpuMs;
  const waitedShare = (after.waitedMs - before.waitedMs) / ((run.done / run.perSecond) * 1000);
  gc.stop();
  await writer.close();
  await log.close();
  rmSync(folder, { recursive: true, force: true });
  return { ...run, turns, groups, cpuMs, waitedShare, gcMs: gc.pauses };
};

/** The round in which a command cost least: the one that others disturbed least. */
const calmest = async (base: string, load: ClosedLoad): Promise<WriterRun> => {
  const runs: WriterRun[] = [];
  for (let seed = 1; seed <= 2; seed += 1) runs.push(await runWriter(base, load, seed));
  return runs.reduce((least, run) => (run.cpuMs / run.done < least.cpuMs / least.done ? run : least));
};

/**
 * Three shapes of load tell three costs apart: one command in a turn and a group; as many commands as fit
 * in one turn; many turns in one group.
 */
export const measureWriter = async (
  base: string,
  seconds: number,
): Promise<Omit<Coefficients['writer'], 'read_ms' | 'fold_event_ms'>> => {
  const single = await calmest(base, { tenants: 1, inFlight: 1, seconds });
  const full = await calmest(base, { tenants: 1, inFlight: 256, seconds });
  const wide = await calmest(base, { tenants: 1_000, inFlight: 256, seconds });
  const runs = [single, full, wide];
  const pauses = runs.flatMap(({ gcMs }) => gcMs);
  const cpuMs = runs.reduce((sum, run) => sum + run.cpuMs, 0);
  const pausedMs = Math.min(
    cpuMs / 2,
    pauses.reduce((sum, ms) => sum + ms, 0),
  );
  // Pauses come on top in the simulation, so what the turns cost is without them.
  const each = (run: WriterRun) => (run.cpuMs * (1 - pausedMs / cpuMs)) / run.done;
  const [turnsWide, groupsWide] = [wide.turns / wide.done, wide.groups / wide.done];
  const both = each(single) - each(full);
  const turn = (each(wide) - each(full) - groupsWide * both) / (turnsWide - groupsWide);
  const turn_ms = Math.min(both, Math.max(0, turn));
  return {
    turn_ms: round(turn_ms),
    command_ms: round(Math.max(0, each(full) - (both * full.turns) / full.done)),
    group_ms: round(both - turn_ms),
    gc_every_ms: round((cpuMs - pausedMs) / Math.max(1, pauses.length)),
    gc_pauses_ms: quantiles(pauses, 40),
  };
};

const DATA = JSON.stringify({ padding: 'x'.repeat(600) });
const METADATA = JSON.stringify({ padding: 'y'.repeat(380) });

const HASH = 'z'.repeat(64);

const appendOf = (stream: string, expected: number, events: number): EncodedAppend => ({
  stream,
  expected: expected < 0 ? 'no_stream' : BigInt(expected),
  events: Array.from({ length: events }, () => ({
    ...{ id: randomUUID(), type: 'CreditsBurned', data: DATA, metadata: METADATA, hash: HASH },
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
