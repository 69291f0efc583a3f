import {
  documentIdOfKey,
  uploadKeyOf,
  type UploadPresigned,
  UPLOADS_PREFIX,
} from '../../../domain/document.ts';
import type { Clock } from '../../../domain/ports/log.ts';
import type { ListedObject, ObjectStore } from '../../../domain/ports/services.ts';
import { systemMeta } from '../writer/commandMeta.ts';
import type { Documents } from '../uploads/documents.ts';
import { sweeperOf, type Sweeper } from './sweeper.ts';
import { HOUR_MS, WORK_AGE_MS, WORK_PREFIXES, workObjects, type WorkObjectsDeps } from './workObjects.ts';

/** An upload URL holds an hour: whatever is not used a day later was given up. */
const UPLOAD_AGE_MS = 24 * HOUR_MS;
const OBJECTS_PAGE = 500;

/** A document whose upload was used. */
type KeptDocument = Pick<UploadPresigned['data'], 'document_id' | 'tenant_id'>;

export interface ObjectSweeperDeps extends WorkObjectsDeps {
  readonly objects: Pick<ObjectStore, 'list' | 'remove'>;
  readonly documents: Documents;
  /** Those of the documents that a read model knows as used and kept. May be late; the log decides. */
  readonly usedOf: (documentIds: readonly string[]) => Promise<readonly KeptDocument[]>;
  /** Those of the documents that a training job was given: its examples can be exported later. */
  readonly learnedOf: (documents: readonly KeptDocument[]) => Promise<ReadonlySet<string>>;
  /** Those of the documents that wait in a batch for their turn. */
  readonly awaitedOf: (documentIds: readonly string[]) => Promise<ReadonlySet<string>>;
  /** How long after it was sent a used upload is kept; 0: for good. */
  readonly retentionDays: number;
  readonly clock: Pick<Clock, 'now' | 'uuid'>;
  readonly everyMs?: number;
  readonly onSweep?: (report: ObjectSweep) => void;
  readonly onError?: (error: unknown) => void;
}

interface ObjectSweep {
  /** Uploads that nobody used. */
  readonly uploads: number;
  /** Used uploads that were kept for as long as uploads are. */
  readonly expired: number;
  /** What is left of work that is over: results, requests, files, keys. */
  readonly results: number;
  /** Objects that could not be looked at or removed now; the next sweep tries again. */
  readonly left: number;
}

/** Sweeps every hour. */
export type ObjectSweeper = Sweeper<ObjectSweep>;

/** Removes objects that nothing refers to. Runs safely beside others. */
export const objectSweeper = (deps: ObjectSweeperDeps): ObjectSweeper =>
  sweeperOf(() => sweepObjects(deps), { everyMs: deps.everyMs ?? HOUR_MS, onError: deps.onError });

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
    if (page.length === OBJECTS_PAGE) {
      yield page;
      page = [];
    }
  }
  if (page.length > 0) yield page;
}

const sweepObjects = async (deps: ObjectSweeperDeps): Promise<ObjectSweep> => {
  const now = Date.parse(deps.clock.now());
  const uploads = await removeOld(deps, oldKeys(deps, UPLOADS_PREFIX, now - UPLOAD_AGE_MS), unusedOf);
  const results = await removeOver(deps, now);
  const expired = await expireUsed(deps, now);
  const report = {
    uploads: uploads.removed,
    expired: expired.removed,
    results: results.removed,
    left: uploads.left + expired.left + results.left,
  };
  deps.onSweep?.(report);
  return report;
};

/** Removes what is left of work that is over. One that cannot be told does not keep the others from being looked at. */
const removeOver = async (deps: ObjectSweeperDeps, nowMs: number): Promise<Removed> => {
  const done = { removed: 0, left: 0 };
  const isOver = workObjects(deps);
  const look = async (object: ListedObject): Promise<void> => {
    if (!(await isOver(object, nowMs))) return;
    await deps.objects.remove(object.key);
    done.removed += 1;
  };
  for (const prefix of WORK_PREFIXES)
    for await (const object of deps.objects.list(prefix)) {
      if (Date.parse(object.modified_at) >= nowMs - WORK_AGE_MS) continue;
      await look(object).catch((error: unknown) => {
        deps.onError?.(error);
        done.left += 1;
      });
    }
  return done;
};

/** Keys of uploads that a read model does not know as used or awaited: few, so the log can be asked for each. */
const unusedOf = async (
  { usedOf, awaitedOf }: ObjectSweeperDeps,
  keys: readonly string[],
): Promise<readonly string[]> => {
  const ids = keys.flatMap((key) => documentIdOfKey(key) ?? []);
  const [rows, awaited] = await Promise.all([usedOf(ids), awaitedOf(ids)]);
  const used = new Set(rows.map(({ document_id }) => document_id));
  return keys.filter((key) => {
    const id = documentIdOfKey(key) ?? '';
    return !used.has(id) && !awaited.has(id);
  });
};

const isUsed = async ({ documents }: ObjectSweeperDeps, key: string): Promise<boolean> => {
  const documentId = documentIdOfKey(key);
  if (documentId === undefined) return false;
  const { registered, removed } = await documents.stateOf(documentId);
  return registered !== null && removed === null;
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

/** As a caller's request removes an upload: it is written down first. */
const expire = async (
  { documents, objects, clock, onError }: ObjectSweeperDeps,
  { document_id, tenant_id }: KeptDocument,
): Promise<'removed' | 'left'> => {
  const meta = systemMeta({ clock }, `retention-${document_id}`);
  const data = { document_id, tenant_id, reason: 'retention', removed_at: meta.now } as const;
  try {
    const outcome = await documents.record({ type: 'UploadRemoved', data }, meta);
    if (outcome.kind !== 'done') return 'left';
    await objects.remove(uploadKeyOf(document_id));
    return 'removed';
  } catch (error) {
    onError?.(error);
    return 'left';
  }
};

/** Used uploads that no training job was given and no batch waits for, and that were sent long enough ago. */
const expireUsed = async (deps: ObjectSweeperDeps, nowMs: number): Promise<Removed> => {
  const done = { removed: 0, left: 0 };
  if (deps.retentionDays === 0) return done;
  const before = nowMs - deps.retentionDays * 24 * HOUR_MS;
  for await (const page of oldKeys(deps, UPLOADS_PREFIX, before)) {
    const used = await deps.usedOf(page.flatMap((key) => documentIdOfKey(key) ?? []));
    const learned = await deps.learnedOf(used);
    const awaited = await deps.awaitedOf(used.map(({ document_id }) => document_id));
    for (const document of used)
      if (!learned.has(document.document_id) && !awaited.has(document.document_id))
        done[await expire(deps, document)] += 1;
  }
  return done;
};
