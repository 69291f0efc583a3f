import {
  type Arrival,
  arrivalsForEach,
  eventsOf,
  type FeedQueue,
  lastDelivered,
  type LastDelivered,
  messageOf,
  type RunnerTuning,
} from './arrivals.ts';
import { type Sql, type SqlTx, SqlUnavailable, type Timers } from './ports.ts';
import {
  CheckpointMoved,
  type Failure,
  type Generation,
  markStopped,
  moveCheckpoints,
  type Slot,
} from './registry.ts';
import { witnessOf } from '../../domain/eventLog/witness.ts';

/** A slot while it runs: its generation moves on with each batch. */
export interface RunningSlot extends Slot {
  generation: Generation;
}

const ATTEMPTS_MAX = 3;
const RETRY_MS = 100;

interface Share {
  readonly slot: RunningSlot;
  readonly arrivals: readonly Arrival[];
  readonly to: bigint;
  readonly witness: LastDelivered;
}

const isPast = ({ generation: { position } }: Slot, to: bigint): boolean =>
  position !== null && position >= to;

const sharesOf = (
  slots: readonly RunningSlot[],
  arrivals: readonly Arrival[],
  to: bigint,
): readonly Share[] => {
  const behind = slots.filter((slot) => slot.generation.state !== 'stopped' && !isPast(slot, to));
  const readers = behind.map(({ projector, generation }) => ({ projector, position: generation.position }));
  const each = arrivalsForEach(readers, arrivals);
  const last = lastDelivered(arrivals);
  return behind.map((slot, at) => ({
    slot,
    to,
    arrivals: each[at] ?? [],
    witness: last ?? slot.generation.witness,
  }));
};

/** A generation after its checkpoint was moved. */
const movedTo = (generation: Generation, { to, witness }: Pick<Share, 'to' | 'witness'>): Generation => ({
  ...generation,
  position: to,
  witness,
});

/** Moves the checkpoints and applies the events, in the caller's transaction. */
const applyShares = async (tx: SqlTx, shares: readonly Share[]): Promise<void> => {
  await moveCheckpoints(
    tx,
    shares.map(({ slot, to, arrivals, witness }) => ({
      generation: slot.generation,
      to,
      witness,
      applied: arrivals.length,
    })),
  );
  const results = await Promise.allSettled(
    shares
      .filter(({ arrivals }) => arrivals.length > 0)
      .map(({ slot: { projector, generation }, arrivals }) =>
        projector.apply(tx, { schema: generation.schema, events: eventsOf(arrivals) }),
      ),
  );
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
};

/** Applies arrivals to all slots in the caller's transaction, without moving on what the slots remember. */
export const applyCheckpointed = async (
  tx: SqlTx,
  slots: readonly RunningSlot[],
  arrivals: readonly Arrival[],
): Promise<void> => {
  const to = arrivals.at(-1)?.position;
  if (to !== undefined) await applyShares(tx, sharesOf(slots, arrivals, to));
};

/** Moves on what the slots remember, after `applyCheckpointed` was committed. */
export const moveOn = (slots: readonly RunningSlot[], arrivals: readonly Arrival[]): void => {
  const to = arrivals.at(-1)?.position;
  if (to === undefined) return;
  const last = lastDelivered(arrivals);
  for (const slot of slots)
    if (slot.generation.state !== 'stopped' && !isPast(slot, to))
      slot.generation = movedTo(slot.generation, { to, witness: last ?? slot.generation.witness });
};

const commit = async (sql: Sql, shares: readonly Share[]): Promise<void> => {
  if (shares.length === 0) return;
  await sql.transaction((tx) => applyShares(tx, shares));
  for (const share of shares) share.slot.generation = movedTo(share.slot.generation, share);
};

const isForTheRunner = (error: unknown): boolean =>
  error instanceof CheckpointMoved || error instanceof SqlUnavailable;

const failureAt = ({ position, recorded }: Arrival, cause: string): Failure => ({
  position,
  eventId: recorded?.id ?? '',
  reason:
    `${recorded?.type ?? 'event'} ${recorded?.id ?? ''} at position ${String(position)} of ` +
    `${recorded?.stream ?? 'the log'}: ${cause}`,
});

const stop = async (sql: Sql, slot: RunningSlot, failure: Failure): Promise<void> => {
  // A database that has gone away must not look like a bad event: this throws SqlUnavailable then.
  await markStopped(sql, slot.generation, failure);
  slot.generation = { ...slot.generation, state: 'stopped', reason: failure.reason };
};

/** Tries one event several times; false after it was found to be the event's own fault. */
const applyOne = async ({ sql, timers }: ApplyDeps, share: Share): Promise<boolean> => {
  const [arrival] = share.arrivals;
  for (let tries = 1; ; tries += 1) {
    try {
      if (arrival?.undecodable !== undefined) throw new Error(arrival.undecodable);
      await commit(sql, [share]);
      return true;
    } catch (error) {
      if (isForTheRunner(error) || arrival === undefined) throw error;
      if (tries === ATTEMPTS_MAX || arrival.undecodable !== undefined) {
        await stop(sql, share.slot, failureAt(arrival, messageOf(error)));
        return false;
      }
      await timers.sleep(RETRY_MS * tries);
    }
  }
};

/** Applies one projector's share alone; halves it until the event that does not apply stands by itself. */
const applyAlone = async (deps: ApplyDeps, share: Share): Promise<boolean> => {
  const { arrivals, slot, to, witness } = share;
  if (arrivals.length <= 1) return applyOne(deps, share);
  try {
    if (arrivals.some(({ undecodable }) => undecodable !== undefined)) throw new Error('undecodable');
    await commit(deps.sql, [share]);
    return true;
  } catch (error) {
    if (isForTheRunner(error)) throw error;
  }
  const middle = arrivals.length >> 1;
  const first = arrivals.slice(0, middle);
  const last = first.at(-1)?.recorded;
  const firstHalf = { to: last?.position ?? to, witness: last === undefined ? witness : witnessOf(last) };
  if (!(await applyAlone(deps, { slot, arrivals: first, ...firstHalf }))) return false;
  return applyAlone(deps, { slot, arrivals: arrivals.slice(middle), to, witness });
};

interface ApplyDeps {
  readonly sql: Sql;
  readonly timers: Timers;
}

/**
 * Takes all slots over some arrivals, in one transaction. When that fails, each by itself: a slot with
 * an event that cannot be applied keeps everything before it and stops there, the others go on.
 * Throws CheckpointMoved or SqlUnavailable; then nothing is known but what the database says.
 */
export const applyArrivals = async (
  deps: ApplyDeps,
  slots: readonly RunningSlot[],
  arrivals: readonly Arrival[],
): Promise<void> => {
  const to = arrivals.at(-1)?.position;
  if (to === undefined) return;
  const shares = sharesOf(slots, arrivals, to);
  const isSound = (share: Share) => share.arrivals.every(({ undecodable }) => undecodable === undefined);
  const sound = shares.filter(isSound);
  let alone = shares.filter((share) => !isSound(share));
  try {
    await commit(deps.sql, sound);
  } catch (error) {
    if (isForTheRunner(error)) throw error;
    alone = [...sound, ...alone];
  }
  for (const share of alone) await applyAlone(deps, share);
};

/**
 * A pause after each batch. A batch costs much the same at any size, and its time is taken from writers: pausing
 * makes the next batch larger. A caller that waits for a position ends the pause.
 */
export interface Pacing {
  /** Sets the pause after a batch that took `workMs`; it counts from now. */
  readonly afterBatch: (workMs: number) => void;
  /** Waits until the queue has an item and the pause is over, or until `signal` aborts. */
  readonly beforeBatch: (queue: FeedQueue, signal: AbortSignal) => Promise<void>;
  /** Ends the pause when enough items wait. */
  readonly onArrived: (waiting: number) => void;
  /** Ends the pause. */
  readonly wake: () => void;
}

interface PacingDeps {
  readonly timers: Timers;
  readonly tuning: Pick<RunnerTuning, 'pauseFactor' | 'pauseMaxMs'>;
  readonly isAwaited: () => boolean;
}

/** With this many events waiting, a pause gains nothing. */
const ENOUGH_EVENTS = 500;

/** Callbacks and no race of promises: a race against a promise that never settles would keep every pause alive. */
export const batchPacing = ({ timers, tuning, isAwaited }: PacingDeps): Pacing => {
  let until = 0;
  let wake: (() => void) | undefined;

  const sleep = async (ms: number, signal: AbortSignal): Promise<void> => {
    if (signal.aborted) return;
    const woken = new AbortController();
    const end = () => woken.abort();
    wake = end;
    signal.addEventListener('abort', end, { once: true });
    await timers.sleep(ms, woken.signal);
    signal.removeEventListener('abort', end);
    wake = undefined;
  };

  return {
    wake: () => wake?.(),
    onArrived: (waiting) => {
      if (waiting >= ENOUGH_EVENTS) wake?.();
    },
    afterBatch: (workMs) => {
      until = timers.nowMs() + Math.min(tuning.pauseMaxMs, workMs * tuning.pauseFactor);
    },
    beforeBatch: async (queue, signal) => {
      await queue.filled();
      const leftMs = until - timers.nowMs();
      const isFew = queue.length() > 0 && queue.length() < ENOUGH_EVENTS;
      if (leftMs > 0 && isFew && !isAwaited()) await sleep(leftMs, signal);
    },
  };
};
