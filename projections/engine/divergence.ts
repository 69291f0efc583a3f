import { eventAt, identityOf } from '../../domain/eventLog/eventLog.ts';
import { sourceOf } from '../../domain/eventLog/movedTexts.ts';
import { furthestOf, isSame, isThere, type Witness } from '../../domain/kernel/witness.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import type { KnownLog } from '../../domain/ports/log.ts';
import { type Generation, generations, hasRegistry } from './registry.ts';
import type { Sql, SqlTx, Timers } from './ports.ts';

/** Read models that were made from another log than the one that is there. */
export interface Divergence {
  readonly names: readonly string[];
  /** What differs, in a sentence without a full stop. */
  readonly reason: string;
  /** The log that is there; null: it does not say. */
  readonly log_id: string | null;
}

/** What to do about it. */
export const DIVERGED =
  'The event log is not the one that the read models were made from: it was replaced or ' +
  'restored. `quire projections rebuild` makes them anew from it (with ' +
  'REBUILD_DIVERGED=auto the service does so by itself), or put the right log back: ' +
  'docs/how-to/back-up-and-restore.md.';

/** The read models are of another log than the one that is there: nothing may be read from them. */
export class ReadModelsDiverged extends Error {
  override readonly name = 'ReadModelsDiverged';
  readonly divergence: Divergence;
  constructor(divergence: Divergence) {
    super(divergence.reason);
    this.divergence = divergence;
  }
}

/** Reports failures of background work; diverged read models are reported once, by the watch. */
export const unlessDiverged =
  (tell: (error: unknown) => void): ((error: unknown) => void) =>
  (error) => {
    if (!(error instanceof ReadModelsDiverged)) tell(error);
  };

/** The first event that lies after a position; undefined at the end of the log. */
export const firstEventAfter = async (
  log: KnownLog,
  after: bigint | undefined,
): Promise<RecordedEvent | undefined> => {
  const done = new AbortController();
  try {
    for await (const item of log.subscribe({ after, signal: done.signal })) {
      if (item.kind === 'event') return item.event;
      if (item.kind === 'caught_up') return undefined;
    }
  } finally {
    done.abort();
  }
  return undefined;
};

const placeOf = ({ stream, revision, position }: Witness): string =>
  `${stream} revision ${String(revision)} at position ${String(position)}`;

/** An older release left a checkpoint without a witness: only the end of the log can contradict it. */
const flawOfEnd = async (log: KnownLog, position: bigint): Promise<string | undefined> => {
  const end = await log.end();
  return end === undefined || end < position
    ? `the log ends at ${String(end ?? 'its start')}, before ${String(position)}, which the read models have`
    : undefined;
};

/** Why a checkpoint cannot be of this log, as far as events tell; undefined when it can. */
const flawOf = async (
  log: KnownLog,
  position: bigint,
  { witness }: Generation,
): Promise<string | undefined> => {
  if (witness === undefined) return flawOfEnd(log, position);
  if (witness !== null && !isSame(witness, await eventAt(log, witness.stream, witness.revision)))
    return `the log does not have the event that the read models know as ${placeOf(witness)}`;
  if (witness?.position === position) return undefined;
  // Nothing was delivered between the two: whatever stands there now was never read.
  const next = (await firstEventAfter(log, witness?.position))?.position;
  // A copy may end before: what is written there from now on would be taken for read.
  if (next === undefined) return flawOfEnd(log, position);
  return next <= position
    ? `the log has an event at position ${String(next)} that was not there when the read models passed it`
    : undefined;
};

const keyOf = ({ position, witness }: Generation): string =>
  `${String(position)} ${witness === undefined ? '?' : (witness?.hash ?? '')}`;

/** Why one generation cannot be of this log; generations at the same place are compared once. */
const flawFinder = (log: KnownLog, source: string | null) => {
  const [log_id = null, move] = source?.split(' ') ?? [];
  const known = new Map<string, Promise<string | undefined>>();
  return async (generation: Generation): Promise<string | undefined> => {
    const { position, logId } = generation;
    if (position === null) return undefined;
    const [madeFrom = null, madeSince] = logId?.split(' ') ?? [];
    if (madeFrom !== null && madeFrom !== log_id)
      return `the read models are of log ${madeFrom}, and this is ${log_id ?? 'a log without a name'}`;
    if (madeSince !== move) return 'texts were moved out of events that the read models were made from';
    const key = keyOf(generation);
    const flaw = known.get(key) ?? flawOf(log, position, generation);
    known.set(key, flaw);
    return flaw;
  };
};

const comparedNow = async (
  log: KnownLog,
  generations: readonly Generation[],
): Promise<Divergence | undefined> => {
  const log_id = (await identityOf(log)) ?? null;
  const flawIn = flawFinder(log, (await sourceOf(log)) ?? null);
  const flawed: { readonly name: string; readonly reason: string }[] = [];
  for (const generation of generations) {
    const reason = await flawIn(generation);
    if (reason !== undefined) flawed.push({ name: generation.name, reason });
  }
  const [first] = flawed;
  return first && { names: flawed.map(({ name }) => name), reason: first.reason, log_id };
};

/** A node that is behind is no other log: it is looked at again for as long as the log allows for. */
const lasting = <Found>(
  { unlessBehind }: KnownLog,
  look: () => Promise<Found>,
  isSound: (found: Found) => boolean,
) => (unlessBehind === undefined ? look() : unlessBehind(look, isSound));

/** Compares checkpoints with the log: its identity, and the last event that was read up to each. */
export const divergenceOf = (
  log: KnownLog,
  generations: readonly Generation[],
): Promise<Divergence | undefined> =>
  lasting(
    log,
    () => comparedNow(log, generations),
    (found) => found === undefined,
  );

/**
 * Makes sure that generations are of the log that is there, and notes its identity where they have none yet.
 * Throws ReadModelsDiverged.
 */
export const requireSameLog = async (
  log: KnownLog,
  slots: readonly { generation: Generation }[],
): Promise<void> => {
  const diverged = await divergenceOf(
    log,
    slots.map(({ generation }) => generation),
  );
  if (diverged !== undefined) throw new ReadModelsDiverged(diverged);
  const logId = (await sourceOf(log)) ?? null;
  for (const slot of slots) slot.generation = { ...slot.generation, logId: slot.generation.logId ?? logId };
};

interface WatchDeps {
  readonly sql: Sql;
  readonly feed: KnownLog;
  readonly timers: Timers;
  /** Between two comparisons. */
  readonly everyMs?: number;
  /** The log was replaced: drop everything remembered of it. */
  readonly onReplaced: (logId: string | undefined) => Promise<void> | void;
  readonly onDiverged: (divergence: Divergence) => void;
  /** The read models are of the log that is there again. */
  readonly onSettled: () => void;
  readonly onError: (error: unknown) => void;
}

/** Compares the log with what is known of it, in every process that reads the read models. */
export interface LogWatch {
  /** Why the read models must not be read; undefined while they may be. */
  readonly diverged: () => Divergence | undefined;
  /** Compares now; gives the finding. What cannot be compared now leaves the last finding as it is. */
  readonly check: () => Promise<Divergence | undefined>;
  /**
   * The log contradicted what this process remembers of it: compares now. `onSettled` is called too if nothing
   * is found, as when a node was behind for a moment.
   */
  readonly contradicted: () => Promise<void>;
  /** The log by its identity, as of the last comparison. */
  readonly logId: () => string | null;
  readonly start: () => void;
  readonly stop: () => Promise<void>;
}

const EVERY_MS = 10_000;
/** While the read models have diverged: another process may repair them. */
const DIVERGED_MS = 1_000;

/** What this process took for the log, and the furthest event of the read models, at the last comparison. */
interface Seen {
  logId: string | undefined;
  witness: Witness | undefined;
}

const servingNow = async (sql: Sql): Promise<readonly Generation[]> =>
  (await hasRegistry(sql)) ? (await generations(sql)).filter(({ serves }) => serves) : [];

const furthest = (serving: readonly Generation[]): Witness | undefined =>
  furthestOf(serving.flatMap(({ witness }) => (witness === undefined || witness === null ? [] : [witness])));

interface OwnEvents {
  /** Those that the log does not have. */
  readonly missing: readonly Witness[];
  /** Of those that are there, all but the furthest, which stands for them. */
  readonly done: readonly Witness[];
}

/** Compares with the log what this process has itself read of it and written to it. */
const ownEvents = async (feed: KnownLog): Promise<OwnEvents> => {
  const own = feed.seen?.all() ?? [];
  const there: Witness[] = [];
  for (const one of own) if (isThere(one, await eventAt(feed, one.stream, one.revision))) there.push(one);
  const last = furthestOf(there);
  return {
    missing: own.filter((one) => !there.includes(one)),
    done: there.filter((one) => one !== last),
  };
};

const isOther = async (
  feed: KnownLog,
  { logId, witness }: Seen,
  now: string | undefined,
): Promise<boolean> => {
  if (logId !== undefined && logId !== now) return true;
  if (witness === undefined) return false;
  return !isSame(witness, await eventAt(feed, witness.stream, witness.revision));
};

/** One comparison; `diverged` keeps its result. */
const comparing = (deps: WatchDeps) => {
  const { sql, feed } = deps;
  const seen: Seen = { logId: undefined, witness: undefined };
  let diverged: Divergence | undefined;
  let isAsked = false;

  /** Says whether the log is another one; then everything remembered of it is dropped. */
  const look = async () => {
    const logId = await identityOf(feed);
    const { missing, done } = await ownEvents(feed);
    return { logId, missing, done, isReplaced: missing.length > 0 || (await isOther(feed, seen, logId)) };
  };
  const forgetReplaced = async () => {
    const found = await lasting(feed, look, (one) => !one.isReplaced);
    if (found.isReplaced) await deps.onReplaced(found.logId);
    for (const one of found.missing) feed.seen?.lose(one);
    for (const one of found.done) feed.seen?.drop(one);
    return found;
  };
  const compareOnce = async (wasAsked: boolean): Promise<void> => {
    const replaced = await forgetReplaced();
    const { isReplaced } = replaced;
    const logId = isReplaced ? await identityOf(feed) : replaced.logId;
    const serving = await servingNow(sql);
    const found = await divergenceOf(feed, serving);
    const before = diverged;
    diverged = found;
    seen.logId = logId;
    seen.witness = found === undefined ? furthest(serving) : undefined;
    if (found === undefined) {
      if (isReplaced || wasAsked || before !== undefined) deps.onSettled();
    } else if (found.reason !== before?.reason) deps.onDiverged(found);
  };
  const compare = async (): Promise<void> => {
    const wasAsked = isAsked;
    isAsked = false;
    try {
      await compareOnce(wasAsked);
    } catch (error) {
      isAsked ||= wasAsked;
      throw error;
    }
  };
  const ask = (): void => {
    isAsked = true;
  };
  return { compare, ask, diverged: () => diverged, logId: () => seen.logId ?? null };
};

export const logWatch = (deps: WatchDeps): LogWatch => {
  const { timers, everyMs = EVERY_MS } = deps;
  const { compare, ask, diverged, logId } = comparing(deps);
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  let loop: Promise<void> | undefined;

  const check = async (): Promise<Divergence | undefined> => {
    running ??= compare()
      .catch(deps.onError)
      .finally(() => (running = undefined));
    await running;
    return diverged();
  };
  const rounds = async (): Promise<void> => {
    for (;;) {
      await timers.sleep(diverged() === undefined ? everyMs : DIVERGED_MS, stopping.signal);
      if (stopping.signal.aborted) return;
      await check();
    }
  };
  return {
    diverged,
    check,
    contradicted: async () => {
      ask();
      // One that runs already may have looked before.
      await running;
      await check();
    },
    logId,
    start: () => {
      loop ??= rounds();
    },
    stop: async () => {
      stopping.abort();
      await loop;
      await running;
    },
  };
};

/** The read models' database for answers: a query fails where its rows may be of another log. */
export const readOnlyWhileSound = (sql: SqlTx, watch: Pick<LogWatch, 'diverged'>): SqlTx => {
  const refuse = (): void => {
    const diverged = watch.diverged();
    if (diverged !== undefined) throw new ReadModelsDiverged(diverged);
  };
  return {
    query: async (text, values) => {
      refuse();
      const rows = await sql.query(text, values);
      refuse();
      return rows;
    },
    script: async (text) => {
      refuse();
      await sql.script(text);
    },
  };
};
