import { messageOf } from './arrivals.ts';
import type { RunningSlot } from './apply.ts';
import {
  type BuildDeps,
  buildGenerations,
  openGenerations,
  type TunedDeps,
  withBuildLock,
} from './building.ts';
import { ReadModelsDiverged } from './divergence.ts';
import { type Sql, type SqlTx, SqlUnavailable } from './ports.ts';
import { RebuildBusy } from './rebuild.ts';
import { retryParked } from './refold.ts';
import {
  abandon,
  CheckpointMoved,
  dropRetired,
  generations,
  hasRegistry,
  type KnownModels,
  leftBehind,
  lockRegistry,
  markStopped,
  prepareReadModels,
  resume,
  retire,
  type Slot,
  stoppedBuild,
  versionPlanOf,
} from './registry.ts';

interface UpgradeDeps extends BuildDeps, KnownModels {}

interface UpgradeOptions {
  readonly batchMax: number;
  readonly signal: AbortSignal;
  /** Generations that had stopped try again: the program may have been repaired. */
  readonly afresh: boolean;
}

/** What became of the read models that were due. */
interface Upgraded {
  readonly promoted: readonly Slot[];
  readonly stopped: readonly { readonly slot: Slot; readonly reason: string }[];
}

const NOTHING: Upgraded = { promoted: [], stopped: [] };

/** Each round is shorter than the one before: after three, little of the log is left for the swap. */
const ROUNDS = 3;

const dueNow = async (sql: SqlTx, known: KnownModels): Promise<readonly Slot[]> =>
  versionPlanOf(await generations(sql), known).due;

/** Generations of what is due; one that has stopped is opened again if `afresh`. */
const openDue = (deps: UpgradeDeps, afresh: boolean): Promise<readonly RunningSlot[]> =>
  deps.sql.transaction(async (tx) => {
    await lockRegistry(tx);
    const projectors = (await dueNow(tx, deps)).map(({ projector }) => projector);
    const opened = await openGenerations(deps, tx, { projectors, state: 'building', fresh: false });
    const slots = opened.filter(({ generation }) => afresh || generation.state !== 'stopped');
    for (const slot of slots) {
      if (slot.generation.state === 'stopped') await resume(tx, slot.generation);
      slot.generation = { ...slot.generation, state: 'building', reason: null };
    }
    return slots;
  });

/** Throws CheckpointMoved when a still newer release has come meanwhile. */
const refuseOvertaken = async (deps: UpgradeDeps, tx: SqlTx, name: string): Promise<void> => {
  const due = await dueNow(tx, deps);
  if (!due.some(({ projector }) => projector.name === name))
    throw new CheckpointMoved(`${name} is not to be built any more`);
};

const buildTogether = async (
  deps: UpgradeDeps,
  slots: readonly RunningSlot[],
  { batchMax, signal }: UpgradeOptions,
): Promise<void> => {
  const beforeSwap = (tx: SqlTx, { projector }: Slot) => refuseOvertaken(deps, tx, projector.name);
  await buildGenerations(deps, [slots], { batchMax, signal, rounds: ROUNDS, beforeSwap });
};

const isForTheRunner = (error: unknown, signal: AbortSignal): boolean =>
  signal.aborted ||
  error instanceof CheckpointMoved ||
  error instanceof SqlUnavailable ||
  error instanceof ReadModelsDiverged;

/** Builds together what is due; after a failure one by one, so that only what cannot be built stops. */
const build = async (deps: UpgradeDeps, options: UpgradeOptions): Promise<Upgraded> => {
  const together = await openDue(deps, options.afresh);
  if (together.length === 0) return NOTHING;
  try {
    await buildTogether(deps, together, options);
    return { promoted: together, stopped: [] };
  } catch (error) {
    if (isForTheRunner(error, options.signal)) throw error;
  }
  const upgraded = { promoted: [] as Slot[], stopped: [] as { slot: Slot; reason: string }[] };
  for (const slot of await openDue(deps, options.afresh)) {
    try {
      await buildTogether(deps, [slot], options);
      upgraded.promoted.push(slot);
    } catch (error) {
      if (isForTheRunner(error, options.signal)) throw error;
      const reason = messageOf(error);
      const position = slot.generation.position ?? 0n;
      await markStopped(deps.sql, slot.generation, { position, eventId: '', reason });
      upgraded.stopped.push({ slot, reason });
    }
  }
  return upgraded;
};

/** Drops what was begun and nobody goes on with, as `leftBehind` says: its tables only take room. */
const dropLeftBehind = async (sql: Sql, followed: readonly Slot[]): Promise<void> => {
  let left = 0;
  for (const { projector } of followed) {
    const found = await leftBehind(sql, projector.name, projector.version);
    for (const generation of found) await abandon(sql, generation);
    left += found.length;
  }
  if (left > 0) await dropRetired(sql);
};

/**
 * Builds the read models that serve in an older version than this process knows, beside the old tables,
 * and puts them in their place, all in one transaction. It needs no projector lease: an older process goes
 * on keeping the old tables up meanwhile. Does nothing while another process builds or rebuilds. A build
 * that was interrupted goes on from its checkpoint. Throws what the runner should wait out.
 */
export const upgradeDue = async (deps: UpgradeDeps, options: UpgradeOptions): Promise<Upgraded> => {
  const { sql } = deps;
  if (options.afresh) await prepareReadModels(sql, deps.projectors);
  const all = await generations(sql);
  const { due, followed, newer } = versionPlanOf(all, deps);
  if (due.length === 0 && newer.length === 0 && options.afresh) await dropLeftBehind(sql, followed);
  // A stopped build waits for a rebuild or a restart: taking the lock for it would only keep the rebuild off.
  const isTried = ({ projector }: Slot) => options.afresh || stoppedBuild(all, projector) === undefined;
  if (!due.some(isTried)) return NOTHING;
  return (await withBuildLock(sql, () => build(deps, options))) ?? NOTHING;
};

/** Ended from outside, overtaken by another process, or to be tried when that one is done. */
const isExpected = (error: unknown, signal: AbortSignal): boolean =>
  signal.aborted || error instanceof CheckpointMoved || error instanceof RebuildBusy;

/** Builds whatever is due, whether this process projects or not, until `signal` aborts. */
export const upgrading = (deps: TunedDeps) => {
  const { timers, tuning, notify } = deps;
  let afresh = true;

  const once = async (signal: AbortSignal): Promise<void> => {
    const options = { batchMax: tuning.batchMax, signal, afresh };
    const { promoted, stopped } = await upgradeDue(deps, options);
    afresh = false;
    for (const { projector } of promoted)
      notify?.({ kind: 'promoted', name: projector.name, version: projector.version });
    for (const { slot, reason } of stopped) notify?.({ kind: 'stopped', name: slot.projector.name, reason });
    await retryParked(deps, signal);
  };

  return async (signal: AbortSignal): Promise<void> => {
    let delayMs = tuning.lookMs;
    while (!signal.aborted) {
      try {
        await once(signal);
        delayMs = tuning.lookMs;
      } catch (error) {
        if (!isExpected(error, signal)) {
          notify?.({ kind: 'failed', reason: messageOf(error) });
          delayMs = Math.min(delayMs * 2, Math.max(tuning.retryMaxMs, tuning.lookMs));
        }
      }
      await timers.sleep(delayMs, signal);
    }
  };
};

/** Names of read models that serve and that only a newer release knows. */
export const foreignModels = async (sql: Sql, known: KnownModels): Promise<readonly string[]> => {
  if (!(await hasRegistry(sql))) return [];
  const { newer } = versionPlanOf(await generations(sql), known);
  return newer.filter((one) => one.known === null).map(({ name }) => name);
};

/**
 * Takes out read models that only a newer release knows: while they serve, an older one stands aside. The
 * newer release fills them again when it comes back.
 */
export const withdraw = async (sql: Sql, names: readonly string[]): Promise<void> => {
  await sql.transaction(async (tx) => {
    await lockRegistry(tx);
    await retire(tx, `name = any($1::text[]) and state <> 'retired'`, [names]);
  });
  await dropRetired(sql);
};
