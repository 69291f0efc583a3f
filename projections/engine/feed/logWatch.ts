import { eventAt, identityOf } from '../../../domain/eventLog/identity.ts';
import { furthestOf } from '../../../domain/eventLog/seenEvents.ts';
import { isSame, isThere, type Witness } from '../../../domain/eventLog/witness.ts';
import type { KnownLog } from '../../../domain/ports/knownLog.ts';
import { divergenceOf, type Divergence } from './divergence.ts';
import type { Sql, Timers } from '../ports.ts';
import { generations, hasRegistry, type Generation } from '../registry.ts';

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
   * The log contradicted what this process remembers of it: compares now. `onSettled` is told too where nothing is
   * found, as when a node was behind for a moment.
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

  /** Gives whether the log is another one; then all that was remembered of it is forgotten. */
  const forgetReplaced = async (logId: string | undefined): Promise<boolean> => {
    const { missing, done } = await ownEvents(feed);
    const isReplaced = missing.length > 0 || (await isOther(feed, seen, logId));
    if (isReplaced) await deps.onReplaced(logId);
    for (const one of missing) feed.seen?.lose(one);
    for (const one of done) feed.seen?.drop(one);
    return isReplaced;
  };
  const compareOnce = async (wasAsked: boolean): Promise<void> => {
    let logId = await identityOf(feed);
    const isReplaced = await forgetReplaced(logId);
    if (isReplaced) logId = await identityOf(feed);
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
