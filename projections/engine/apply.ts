import {
  type Arrival,
  arrivalsForEach,
  eventsOf,
  type FeedQueue,
  lastDelivered,
  type LastDelivered,
  messageOf,
  type ProjectionNotice,
  type RunnerTuning,
} from './arrivals.ts';
import { isByTenant, ownerOf } from './owners.ts';
import { park, PARKED_MAX } from './parking.ts';
import { type Sql, type SqlTx, SqlUnavailable, type Timers } from './ports.ts';
import {
  type CheckpointMove,
  CheckpointMoved,
  type Failure,
  type Generation,
  markStopped,
  moveCheckpoints,
  type Slot,
} from './registry.ts';
import { isOwn, moveShares } from './shares.ts';
import { witnessOf } from '../../domain/kernel/witness.ts';

/** A slot while it runs: its generation moves on with each batch. */
export interface RunningSlot extends Slot {
  generation: Generation;
  /** Tenants whose events it leaves, from a position on. */
  parked?: ReadonlyMap<string, bigint>;
  /** The only tenant whose events it takes, beside those that all share. */
  readonly tenant?: string;
}

const ATTEMPTS_MAX = 3;
const RETRY_MS = 100;

interface Portion {
  readonly slot: RunningSlot;
  readonly arrivals: readonly Arrival[];
  readonly to: bigint;
  readonly witness: LastDelivered;
}

const isPast = ({ generation: { position } }: Slot, to: bigint): boolean =>
  position !== null && position >= to;

/** Whether a slot applies an event, by whose it is. */
const takes = ({ projector, parked, tenant, generation }: RunningSlot, arrival: Arrival): boolean => {
  if (generation.share !== undefined) return isOwn(generation.share, projector, arrival);
  const owner = ownerOf(projector, arrival);
  if (owner === null) return true;
  return tenant === undefined ? parked?.has(owner) !== true : owner === tenant;
};

/** Few slots leave events: the others are spared the question. */
const taken = (slot: RunningSlot, arrivals: readonly Arrival[]): readonly Arrival[] =>
  slot.tenant === undefined && (slot.parked?.size ?? 0) === 0 && slot.generation.share === undefined
    ? arrivals
    : arrivals.filter((one) => takes(slot, one));

const portionsOf = (
  slots: readonly RunningSlot[],
  arrivals: readonly Arrival[],
  to: bigint,
): readonly Portion[] => {
  const behind = slots.filter((slot) => slot.generation.state !== 'stopped' && !isPast(slot, to));
  const readers = behind.map(({ projector, generation }) => ({ projector, position: generation.position }));
  const each = arrivalsForEach(readers, arrivals);
  const last = lastDelivered(arrivals);
  return behind.map((slot, at) => ({
    slot,
    to,
    arrivals: taken(slot, each[at] ?? []),
    witness: last ?? slot.generation.witness,
  }));
};

/** A generation after its checkpoint was moved. */
const movedTo = (generation: Generation, { to, witness }: Pick<Portion, 'to' | 'witness'>): Generation => ({
  ...generation,
  position: to,
  witness,
});

/** Moves the checkpoints and applies the events, in the caller's transaction. */
const applyPortions = async (tx: SqlTx, portions: readonly Portion[]): Promise<void> => {
  const moves = portions.map(({ slot, to, arrivals, witness }) => ({
    generation: slot.generation,
    to,
    witness,
    applied: arrivals.length,
  }));
  const isOfAll = ({ generation }: CheckpointMove) => generation.share === undefined;
  await moveCheckpoints(tx, moves.filter(isOfAll));
  await moveShares(
    tx,
    moves.filter((move) => !isOfAll(move)),
  );
  const results = await Promise.allSettled(
    portions
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
  if (to !== undefined) await applyPortions(tx, portionsOf(slots, arrivals, to));
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

const commit = async (sql: Sql, portions: readonly Portion[]): Promise<void> => {
  if (portions.length === 0) return;
  await sql.transaction((tx) => applyPortions(tx, portions));
  for (const portion of portions) portion.slot.generation = movedTo(portion.slot.generation, portion);
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

/** SQLSTATE classes of what the values of one event can be to blame for: data and integrity. */
const EVENTS_FAULT = /^2[23]/;

/** Whether an error says nothing of the tables or the statement: those would fail for every tenant. */
const isOfTheEvent = (error: unknown): boolean => {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code) || EVENTS_FAULT.test(code);
};

/**
 * The tenant to park for an event; null: the read model stops. It stops at one that cannot be decoded: a newer release
 * writes such for every tenant, and after the upgrade the restart goes on at once.
 */
const tenantAtFault = ({ slot }: Portion, arrival: Arrival, error: unknown): string | null => {
  const isServing = slot.generation.serves && slot.tenant === undefined;
  const mayPark = isServing && isByTenant(slot.projector) && (slot.parked?.size ?? 0) < PARKED_MAX;
  const isReadable = arrival.undecodable === undefined;
  return mayPark && isReadable && isOfTheEvent(error) ? ownerOf(slot.projector, arrival) : null;
};

/** Goes past an event that cannot be applied, and leaves what follows of its tenant. */
const parkTenant = async (
  { sql, notify }: ApplyDeps,
  { slot, to, witness }: Portion,
  { tenant, arrival, reason }: { tenant: string; arrival: Arrival; reason: string },
): Promise<void> => {
  const failure = failureAt(arrival, reason);
  const since = arrival.recorded?.metadata['recorded_at'];
  await sql.transaction(async (tx) => {
    await moveCheckpoints(tx, [{ generation: slot.generation, to, witness, applied: 0 }]);
    await park(tx, slot.generation, { tenant, since: typeof since === 'string' ? since : null, failure });
  });
  slot.generation = { ...movedTo(slot.generation, { to, witness }), parks: slot.generation.parks + 1n };
  slot.parked = new Map([...(slot.parked ?? []), [tenant, arrival.position]]);
  notify?.({ kind: 'parked', name: slot.projector.name, tenant_id: tenant, reason: failure.reason });
};

/** Parks the tenant of an event that cannot be applied, or stops its slot; false: it stopped. */
const leave = async (deps: ApplyDeps, portion: Portion, error: unknown): Promise<boolean> => {
  const [arrival] = portion.arrivals;
  if (arrival === undefined) throw error;
  const reason = messageOf(error);
  const tenant = tenantAtFault(portion, arrival, error);
  if (tenant === null) await stop(deps.sql, portion.slot, failureAt(arrival, reason));
  else await parkTenant(deps, portion, { tenant, arrival, reason });
  return tenant !== null;
};

/** Tries one event several times; false after its slot has stopped at it. */
const applyOne = async (deps: ApplyDeps, portion: Portion): Promise<boolean> => {
  const [arrival] = portion.arrivals;
  for (let tries = 1; ; tries += 1) {
    try {
      if (arrival?.undecodable !== undefined) throw new Error(arrival.undecodable);
      await commit(deps.sql, [portion]);
      return true;
    } catch (error) {
      if (isForTheRunner(error) || arrival === undefined) throw error;
      if (tries === ATTEMPTS_MAX || arrival.undecodable !== undefined) return leave(deps, portion, error);
      await deps.timers.sleep(RETRY_MS * tries);
    }
  }
};

/** Applies one projector's portion alone; halves it until the event that does not apply stands by itself. */
const applyAlone = async (deps: ApplyDeps, given: Portion): Promise<boolean> => {
  // A tenant may have been parked at an event before these.
  const portion = { ...given, arrivals: taken(given.slot, given.arrivals) };
  const { arrivals, slot, to, witness } = portion;
  if (arrivals.length <= 1) return applyOne(deps, portion);
  try {
    if (arrivals.some(({ undecodable }) => undecodable !== undefined)) throw new Error('undecodable');
    await commit(deps.sql, [portion]);
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
  readonly notify?: (notice: ProjectionNotice) => void;
}

/**
 * Takes all slots over some arrivals, in one transaction. When that fails, each by itself: a slot with
 * an event that cannot be applied keeps everything before it and parks the event's tenant, or stops there if it
 * cannot tell tenants apart or the event cannot be decoded. The others go on.
 * Throws CheckpointMoved or SqlUnavailable; then nothing is known but what the database says.
 */
export const applyArrivals = async (
  deps: ApplyDeps,
  slots: readonly RunningSlot[],
  arrivals: readonly Arrival[],
): Promise<void> => {
  const to = arrivals.at(-1)?.position;
  if (to === undefined) return;
  const portions = portionsOf(slots, arrivals, to);
  const isSound = (portion: Portion) =>
    portion.arrivals.every(({ undecodable }) => undecodable === undefined);
  const sound = portions.filter(isSound);
  let alone = portions.filter((portion) => !isSound(portion));
  try {
    await commit(deps.sql, sound);
  } catch (error) {
    if (isForTheRunner(error)) throw error;
    alone = [...sound, ...alone];
  }
  for (const portion of alone) await applyAlone(deps, portion);
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
  readonly tuning: Pick<RunnerTuning, 'batchMax' | 'pauseFactor' | 'pauseMaxMs'>;
  readonly isAwaited: () => boolean;
}

/** With this many events waiting, a pause gains nothing: the rows of most tenants are written once for several. */
const ENOUGH_EVENTS = 2_000;
/** With as many, the feed has probably more at hand. */
const MANY_EVENTS = 500;

/**
 * Lets a feed deliver what it has at hand. The first event of a page wakes the reader, and the page would be two
 * batches; a batch leaves the feed no turn, and what is behind it would be batches of a page. A batch costs much the
 * same at any size, and writes a row once that several of its events change.
 */
const gathered = async (queue: FeedQueue, max: number, timers: Timers): Promise<void> => {
  let before: number;
  do {
    before = queue.length();
    if (before < max) await timers.sleep(0);
  } while (queue.length() >= MANY_EVENTS && queue.length() > before);
};

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
      if (queue.length() > 0) await gathered(queue, tuning.batchMax, timers);
    },
  };
};
