import { eventAt, identityOf } from '../../../domain/eventLog/identity.ts';
import type { KnownLog } from '../../../domain/ports/knownLog.ts';
import { divergenceOf, type Divergence } from './divergence.ts';
import type { Sql, Timers } from '../ports.ts';
import { generations, hasRegistry, type Generation } from '../registry.ts';
import { isSame, type Witness } from './witness.ts';

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
  /** The log by its identity, as of the last comparison. */
  readonly logId: () => string | null;
  readonly start: () => void;
  readonly stop: () => Promise<void>;
}

const EVERY_MS = 10_000;
/** While the read models have diverged: another process may repair them. */
const DIVERGED_MS = 1_000;

/** What this process itself has seen of the log. */
interface Seen {
  logId: string | undefined;
  witness: Witness | undefined;
}

const servingNow = async (sql: Sql): Promise<readonly Generation[]> =>
  (await hasRegistry(sql)) ? (await generations(sql)).filter(({ serves }) => serves) : [];

const furthest = (serving: readonly Generation[]): Witness | undefined =>
  serving
    .flatMap(({ witness }) => (witness === undefined || witness === null ? [] : [witness]))
    .reduce<Witness | undefined>(
      (far, one) => (far === undefined || one.position > far.position ? one : far),
      undefined,
    );

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

  const compare = async (): Promise<void> => {
    let logId = await identityOf(feed);
    const isReplaced = await isOther(feed, seen, logId);
    if (isReplaced) {
      await deps.onReplaced(logId);
      logId = await identityOf(feed);
    }
    const serving = await servingNow(sql);
    const found = await divergenceOf(feed, serving);
    const [before, isNew] = [diverged, found !== undefined && found.reason !== diverged?.reason];
    diverged = found;
    seen.logId = logId;
    seen.witness = found === undefined ? furthest(serving) : undefined;
    if (found !== undefined && isNew) deps.onDiverged(found);
    if (found === undefined && (isReplaced || before !== undefined)) deps.onSettled();
  };
  return { compare, diverged: () => diverged, logId: () => seen.logId ?? null };
};

export const logWatch = (deps: WatchDeps): LogWatch => {
  const { timers, everyMs = EVERY_MS } = deps;
  const { compare, diverged, logId } = comparing(deps);
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
