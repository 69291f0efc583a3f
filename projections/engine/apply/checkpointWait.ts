import { bigintOrNull, textOf, wholeOf } from './columns.ts';
import type { Projector } from '../projector.ts';
import { hasRegistry } from '../registry.ts';
import type { SqlTx, Timers } from '../ports.ts';
import type { RunningSlot } from './applyBatch.ts';

const POLL_MS = 20;

/** Wakes all waiters at each change. */
export interface Changes {
  readonly next: () => Promise<void>;
  readonly fire: () => void;
}

export const changes = (): Changes => {
  let fire: () => void = () => undefined;
  let next: Promise<void> | undefined;
  return {
    next: () => (next ??= new Promise((resolve) => (fire = resolve))),
    fire: () => {
      next = undefined;
      fire();
    },
  };
};

/** Whether all read models named have reached a position; `never` when one has stopped or is being built. */
type Reached = 'yes' | 'not_yet' | 'never';

interface Checkpoint {
  readonly position: bigint | null;
  readonly state: string;
}

const reachedBy = (checkpoints: readonly Checkpoint[] | undefined, position: bigint): Reached => {
  if (checkpoints === undefined) return 'not_yet';
  if (checkpoints.every((at) => at.position !== null && at.position >= position)) return 'yes';
  const stuck = checkpoints.some(
    (at) => at.state !== 'live' && (at.position === null || at.position < position),
  );
  return stuck ? 'never' : 'not_yet';
};

interface RegistryCheckpoint extends Checkpoint {
  readonly name: string;
  readonly version: number;
}

/** undefined while some read model has no tables yet. */
const registryCheckpoints = async (
  sql: SqlTx,
  names: readonly string[],
): Promise<readonly RegistryCheckpoint[] | undefined> => {
  if (names.length === 0) return [];
  if (!(await hasRegistry(sql))) return undefined;
  const rows = await sql.query(
    'select name, version, position, state from projections.registry where serves and name = any($1::text[])',
    [names],
  );
  if (rows.length < names.length) return undefined;
  return rows.map((row) => ({
    name: textOf(row, 'name'),
    version: wholeOf(row, 'version'),
    position: bigintOrNull(row, 'position'),
    state: textOf(row, 'state'),
  }));
};

/** Checkpoints of read models that the lease holder does not follow: an older version moves only by being upgraded. */
const unfollowed = (
  checkpoints: readonly RegistryCheckpoint[] | undefined,
  projectors: readonly Projector[],
): readonly Checkpoint[] | undefined =>
  checkpoints?.map(({ name, version, position, state }) => ({
    position,
    state: projectors.some((one) => one.name === name && one.version > version) ? 'building' : state,
  }));

interface CheckpointWaitDeps {
  readonly sql: SqlTx;
  readonly timers: Timers;
  readonly projectors: readonly Projector[];
  /** The running slots while this process projects, else undefined. */
  readonly slots: () => readonly RunningSlot[] | undefined;
  readonly changes: Changes;
  /** Called when a caller begins to wait. */
  readonly onWait: () => void;
}

export interface WaitOptions {
  readonly timeoutMs: number;
  /** Names of read models; all by default. */
  readonly projectors?: readonly string[];
}

/** Waits for checkpoints: by notification while this process projects, else by asking the registry. */
export const checkpointWaits = ({ sql, timers, projectors: known, slots, ...deps }: CheckpointWaitDeps) => {
  const { changes: changed, onWait } = deps;
  const names = known.map(({ name }) => name);
  let waiting = 0;

  const checkpoints = async (wanted: readonly string[]): Promise<readonly Checkpoint[] | undefined> => {
    const running = slots();
    if (running === undefined) return registryCheckpoints(sql, wanted);
    const own = running.filter(({ projector }) => wanted.includes(projector.name));
    const rest = wanted.filter((name) => !own.some(({ projector }) => projector.name === name));
    const others = unfollowed(await registryCheckpoints(sql, rest), known);
    if (others === undefined) return undefined;
    return [...own.map(({ generation: { position, state } }) => ({ position, state })), ...others];
  };

  const pause = async (leftMs: number): Promise<void> => {
    if ((slots()?.length ?? 0) < known.length) return timers.sleep(Math.min(leftMs, POLL_MS));
    const woken = new AbortController();
    await Promise.race([changed.next(), timers.sleep(leftMs, woken.signal)]);
    woken.abort();
  };

  const wait = async (position: bigint, { timeoutMs, projectors = names }: WaitOptions): Promise<boolean> => {
    const deadline = timers.nowMs() + timeoutMs;
    for (;;) {
      const reached = reachedBy(await checkpoints(projectors), position);
      if (reached !== 'not_yet') return reached === 'yes';
      const leftMs = deadline - timers.nowMs();
      if (leftMs <= 0) return false;
      await pause(leftMs);
    }
  };

  return {
    isAwaited: () => waiting > 0,
    waitFor: async (position: bigint, options: WaitOptions): Promise<boolean> => {
      waiting += 1;
      onWait();
      try {
        return await wait(position, options);
      } finally {
        waiting -= 1;
      }
    },
  };
};
