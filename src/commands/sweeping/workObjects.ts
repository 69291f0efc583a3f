import { OPERATIONS_PREFIX } from '../operations/operationInput.ts';
import { TRAINING_PREFIX } from '../training/trainingInput.ts';
import { RESULTS_PREFIX, workIdOfResult } from '../work/results/storedResult.ts';

/** What the log says of the work that an object is for. */
export type WorkFate =
  /** It waits, runs, or is not billed yet. */
  | { readonly kind: 'open' }
  | { readonly kind: 'ended'; readonly at: string }
  /** It never was in the queue, or was never asked for. */
  | { readonly kind: 'unknown' };

export interface WorkObjectsDeps {
  /** Of an operation, batch or training job by its ID, from the log. `keeps`: a key that it needs after its end. */
  readonly queuedFate: (id: string) => Promise<WorkFate & { readonly keeps?: string }>;
  /** Of an extraction or conversion by its ID, from the log: it ended when it was billed, or failed. */
  readonly workFate: (id: string) => Promise<WorkFate>;
}

export const HOUR_MS = 3_600_000;
/** A result is kept for a day after it was billed; what nobody knows, for as long after it was put. */
const KEPT_MS = 24 * HOUR_MS;
/** A request that is to be accepted still is so within minutes. */
const NEW_MS = HOUR_MS;

/** Where requests, files, parts, keys and results of work lie. */
export const WORK_PREFIXES = [OPERATIONS_PREFIX, TRAINING_PREFIX, RESULTS_PREFIX, 'secrets/'] as const;

/** Younger than that is not looked at, ms. */
export const WORK_AGE_MS = NEW_MS;

const QUEUED = /^(?:operations|training|secrets)\/((?:op|bat|job)_[A-Za-z0-9-]+)(?:\/|$)/;

/** Whether nobody needs an object of some work any more. */
export type IsOver = (
  object: { readonly key: string; readonly modified_at: string },
  nowMs: number,
) => Promise<boolean>;

/**
 * Tells what is left of work that is over: whatever a request put that was never accepted, what arrived late, and
 * results a day after they were billed. Times are the log's; those of the store count only for what the log does not
 * know. Each piece of work is asked for once.
 */
export const workObjects = ({ queuedFate, workFate }: WorkObjectsDeps): IsOver => {
  const known = new Map<string, Promise<WorkFate & { readonly keeps?: string }>>();
  const fateOf = (id: string, ask: typeof queuedFate) => {
    const fate = known.get(id) ?? ask(id);
    known.set(id, fate);
    return fate;
  };
  return async ({ key, modified_at }, nowMs) => {
    const age = nowMs - Date.parse(modified_at);
    const work = workIdOfResult(key);
    if (work !== undefined) {
      const fate = await fateOf(work, workFate);
      if (fate.kind === 'ended') return nowMs - Date.parse(fate.at) >= KEPT_MS;
      return fate.kind === 'unknown' && age >= KEPT_MS;
    }
    const queued = QUEUED.exec(key)?.[1];
    // Results of releases before this one, and sentences of problems; secrets that belong to no work stay.
    if (queued === undefined) return key.startsWith(RESULTS_PREFIX) && age >= KEPT_MS + HOUR_MS;
    const fate = await fateOf(queued, queuedFate);
    if (fate.kind === 'unknown') return age >= KEPT_MS;
    return fate.kind === 'ended' && age >= NEW_MS && fate.keeps !== key;
  };
};
