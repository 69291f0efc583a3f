import type { KeptDays } from '../../domain/retention.ts';
import { REVIEWS_PREFIX } from './reviews.ts';
import { RESULTS_PREFIX, workIdOfResult } from './storedResult.ts';

/** The log's record of the work that an object is for. */
export type WorkFate =
  /** It waits, runs, or is not billed yet. */
  | { readonly kind: 'open' }
  | { readonly kind: 'ended'; readonly at: string; readonly tenant_id: string }
  /** It never was in the queue, or was never asked for. */
  | { readonly kind: 'unknown' };

export interface WorkObjectsDeps {
  /** By the ID of what waits, of a set or a run, from the log. `keeps`: a key that it needs after its end. */
  readonly queuedFate: (id: string) => Promise<WorkFate & { readonly keeps?: string }>;
  /** Of an extraction or conversion by its ID, from the log: it ended when it was billed, or failed. */
  readonly workFate: (id: string) => Promise<WorkFate>;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Unknown objects are kept for a day after they were put. */
const KEPT_MS = DAY_MS;

/** How long something is kept, ms; for 0 days: permanently. */
export const keptMs = (days: number): number => (days === 0 ? Infinity : days * DAY_MS);

/** A request that can still be accepted is accepted within minutes. */
const NEW_MS = HOUR_MS;

const QUEUED =
  /^(?:operations|training|evaluations|secrets|results)\/((?:op|bat|job|set|evr)_[A-Za-z0-9-]+)(?:\/|$)/;
export const REVIEWED = /^(?:operations|reviews|results)\/(?:op|rev)_([A-Za-z0-9-]+)\//;

/** The operation, batch or training job that an object is of; of a review, its operation. */
const queuedOfKey = (key: string): string | undefined => {
  const suffix = key.startsWith(REVIEWS_PREFIX) ? REVIEWED.exec(key)?.[1] : undefined;
  return suffix === undefined ? QUEUED.exec(key)?.[1] : `op_${suffix}`;
};

/** Which part of some work is over, as reports count it; undefined while it is still needed. */
export type WhatIsOver = (
  object: { readonly key: string; readonly modified_at: string },
  nowMs: number,
) => Promise<'results' | 'examples' | undefined>;

type KeptFate = WorkFate & { readonly keeps?: string };

/** What the log said of some work, and when it was asked. */
interface Remembered {
  readonly fate: KeptFate;
  readonly atMs: number;
}

/** Work that is remembered from sweep to sweep, some 200 bytes each. */
const REMEMBERED_MAX = 100_000;
/** How long what may still change is remembered, ms. */
const OPEN_MS = 6 * HOUR_MS;

/** Work that has ended stays so. Sets and runs of them mostly stay open; other work that is open is about to end. */
const isLasting = (id: string, { kind }: WorkFate): boolean =>
  kind === 'ended' || (kind === 'open' && /^(?:set|evr)_/.test(id));

/** What the log said of work, by its ID: the longest known is forgotten first. */
const fatesKnown = () => {
  const known = new Map<string, Remembered>();
  return {
    get: (id: string, nowMs: number): KeptFate | undefined => {
      const one = known.get(id);
      return one === undefined || (one.fate.kind === 'open' && nowMs - one.atMs >= OPEN_MS)
        ? undefined
        : one.fate;
    },
    learn: (id: string, fate: KeptFate, atMs: number): void => {
      known.delete(id);
      if (!isLasting(id, fate)) return;
      known.set(id, { fate, atMs });
      for (const oldest of known.keys()) if (known.size > REMEMBERED_MAX) known.delete(oldest);
    },
  };
};

/** `isOld`: it goes where the log does not know its work. */
const isResultOver = (
  kept: KeptDays,
  fate: WorkFate,
  { nowMs, isOld }: { readonly nowMs: number; readonly isOld: boolean },
) =>
  fate.kind === 'ended'
    ? nowMs - Date.parse(fate.at) >= keptMs(kept.of(fate.tenant_id).results)
    : fate.kind === 'unknown' && isOld;

/** Whether an object of queued work is over, by what is known of the work. */
const queuedOver = (
  kept: KeptDays,
  { key, ageMs, nowMs }: { readonly key: string; readonly ageMs: number; readonly nowMs: number },
  fate: KeptFate,
): Awaited<ReturnType<WhatIsOver>> => {
  // Why an operation failed, or why a batch refused a document: of that there never was an operation.
  if (key.startsWith(RESULTS_PREFIX)) {
    const isOld = ageMs >= keptMs(kept.installation.results) + HOUR_MS;
    return isResultOver(kept, fate, { nowMs, isOld }) ? 'results' : undefined;
  }
  if (fate.kind === 'unknown') return ageMs >= KEPT_MS ? 'results' : undefined;
  if (fate.kind === 'open' || ageMs < NEW_MS) return undefined;
  if (fate.keeps !== key) return 'results';
  const examplesMs = keptMs(kept.of(fate.tenant_id).examples);
  return nowMs - Date.parse(fate.at) >= examplesMs ? 'examples' : undefined;
};

/** Tells of objects what is over, in one sweep after the other. */
export type WorkObjects = (kept: KeptDays) => WhatIsOver;

/**
 * Tells what is left of work that is over: whatever a request put that was never accepted, what arrived late, and
 * results and examples that were kept for as long as they are. Times are the log's; those of the store count only for
 * what the log does not know. Work that is known to be kept is not asked for again in each sweep; before anything is
 * removed, the log is asked.
 */
export const workObjects = ({ queuedFate, workFate }: WorkObjectsDeps): WorkObjects => {
  const known = fatesKnown();
  return (kept) => {
    const asked = new Map<string, Promise<KeptFate>>();
    const fateOf = async (id: string, ask: typeof queuedFate, nowMs: number): Promise<KeptFate> => {
      const fate = asked.get(id) ?? ask(id);
      asked.set(id, fate);
      known.learn(id, await fate, nowMs);
      return fate;
    };
    const judged = async (
      id: string,
      { ask, nowMs }: { readonly ask: typeof queuedFate; readonly nowMs: number },
      judge: (fate: KeptFate) => Awaited<ReturnType<WhatIsOver>>,
    ) => {
      const before = known.get(id, nowMs);
      if (before !== undefined && judge(before) === undefined) return undefined;
      return judge(await fateOf(id, ask, nowMs));
    };
    return async ({ key, modified_at }, nowMs) => {
      const ageMs = nowMs - Date.parse(modified_at);
      const work = workIdOfResult(key);
      if (work !== undefined)
        return judged(work, { ask: workFate, nowMs }, (fate) =>
          isResultOver(kept, fate, { nowMs, isOld: ageMs >= KEPT_MS }) ? 'results' : undefined,
        );
      const queued = queuedOfKey(key);
      if (queued !== undefined)
        return judged(queued, { ask: queuedFate, nowMs }, (fate) =>
          queuedOver(kept, { key, ageMs, nowMs }, fate),
        );
      // Results and sentences of problems of releases before this one; secrets that belong to no work stay.
      const isOld = ageMs >= keptMs(kept.installation.results) + HOUR_MS;
      return key.startsWith(RESULTS_PREFIX) && isOld ? 'results' : undefined;
    };
  };
};
