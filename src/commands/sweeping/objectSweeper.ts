import { documentIdOfKey, UPLOADS_PREFIX } from '../../../domain/document/uploads.ts';
import type { Clock } from '../../../domain/ports/clock.ts';
import type { ObjectStore } from '../../../domain/ports/objectStore.ts';
import type { Documents } from '../uploads/documents.ts';
import { RESULTS_PREFIX } from '../work/storedResult.ts';
import { sweeperOf, type Sweeper } from './sweeper.ts';

const HOUR_MS = 3_600_000;
/** An upload URL holds an hour: whatever is not used a day later was given up. */
const UPLOAD_AGE_MS = 24 * HOUR_MS;
/** A stored result is found for a day. */
const RESULT_AGE_MS = 25 * HOUR_MS;
const PAGE = 500;

export interface ObjectSweeperDeps {
  readonly objects: Pick<ObjectStore, 'list' | 'remove'>;
  readonly documents: Pick<Documents, 'stateOf'>;
  /** Those of the documents that a read model knows as registered. May be late; the log decides. */
  readonly registeredOf: (documentIds: readonly string[]) => Promise<ReadonlySet<string>>;
  readonly clock: Pick<Clock, 'now'>;
  readonly everyMs?: number;
  readonly onSweep?: (report: ObjectSweep) => void;
  readonly onError?: (error: unknown) => void;
}

export interface ObjectSweep {
  /** Uploads that nobody used. */
  readonly uploads: number;
  /** Results that are no longer found. */
  readonly results: number;
  /** Objects that could not be looked at or removed now; the next sweep tries again. */
  readonly left: number;
}

/** Sweeps every hour. */
export type ObjectSweeper = Sweeper<ObjectSweep>;

/** Removes objects that nothing refers to. Runs safely beside others. */
export const objectSweeper = (deps: ObjectSweeperDeps): ObjectSweeper =>
  sweeperOf(() => sweepOnce(deps), { everyMs: deps.everyMs ?? HOUR_MS, onError: deps.onError });

interface Removed {
  readonly removed: number;
  readonly left: number;
}

/** Keys of objects that were put before `before`, a page at a time. */
async function* oldKeys(
  { objects }: ObjectSweeperDeps,
  prefix: string,
  before: number,
): AsyncIterable<readonly string[]> {
  let page: string[] = [];
  for await (const { key, modified_at } of objects.list(prefix)) {
    if (Date.parse(modified_at) < before) page.push(key);
    if (page.length === PAGE) {
      yield page;
      page = [];
    }
  }
  if (page.length > 0) yield page;
}

const sweepOnce = async (deps: ObjectSweeperDeps): Promise<ObjectSweep> => {
  const now = Date.parse(deps.clock.now());
  const uploads = await removeOld(deps, oldKeys(deps, UPLOADS_PREFIX, now - UPLOAD_AGE_MS), unusedOf);
  const all = (_: ObjectSweeperDeps, keys: readonly string[]) => Promise.resolve(keys);
  const results = await removeOld(deps, oldKeys(deps, RESULTS_PREFIX, now - RESULT_AGE_MS), all);
  const report = { uploads: uploads.removed, results: results.removed, left: uploads.left + results.left };
  deps.onSweep?.(report);
  return report;
};

/** Keys of uploads that a read model does not know as used: few, so the log can be asked for each. */
const unusedOf = async (
  { registeredOf }: ObjectSweeperDeps,
  keys: readonly string[],
): Promise<readonly string[]> => {
  const used = await registeredOf(keys.flatMap((key) => documentIdOfKey(key) ?? []));
  return keys.filter((key) => !used.has(documentIdOfKey(key) ?? ''));
};

const isUsed = async ({ documents }: ObjectSweeperDeps, key: string): Promise<boolean> => {
  const documentId = documentIdOfKey(key);
  return documentId !== undefined && (await documents.stateOf(documentId)).registered !== null;
};

/** One that fails does not keep the others from being removed. */
const removeOld = async (
  deps: ObjectSweeperDeps,
  pages: AsyncIterable<readonly string[]>,
  chosen: typeof unusedOf,
): Promise<Removed> => {
  const done = { removed: 0, left: 0 };
  for await (const page of pages)
    for (const key of await chosen(deps, page)) {
      const became = await removeUnused(deps, key);
      if (became !== 'used') done[became] += 1;
    }
  return done;
};

const removeUnused = async (deps: ObjectSweeperDeps, key: string): Promise<'removed' | 'left' | 'used'> => {
  try {
    if (await isUsed(deps, key)) return 'used';
    await deps.objects.remove(key);
    return 'removed';
  } catch (error) {
    deps.onError?.(error);
    return 'left';
  }
};
