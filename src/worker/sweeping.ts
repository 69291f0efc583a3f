import { WORK_ID_PREFIXES } from '../../domain/workEvents.ts';
import type { Clock } from '../../domain/ports/log.ts';
import { systemMeta } from '../writer/commandMeta.ts';
import { keyBeforeAside, setAside } from '../writer/setAside.ts';
import { type Sweeper, sweeperOf } from '../writer/sweeper.ts';
import { OPERATIONS_PREFIX } from '../commands/operationInput.ts';
import type { ForgottenExamples } from '../commands/erasing.ts';
import { type JobName, TRAINING_PREFIX } from '../commands/training.ts';
import { NO_END } from '../../domain/account/messages.ts';
import type { KeptDays } from '../../domain/retention.ts';
import { operationIdOfReview } from '../../domain/review.ts';
import { REVIEWS_PREFIX } from '../commands/reviews.ts';
import { TABLES_PREFIX } from '../../domain/rules/masterTable.ts';
import { documentIdOfEvaluation, EVALUATIONS_PREFIX } from '../commands/evaluations.ts';
import { RESULTS_PREFIX, workIdOfResult } from '../commands/storedResult.ts';
import {
  type DocumentCommand,
  documentIdOfKey,
  uploadKeyOf,
  type UploadPresigned,
  UPLOADS_PREFIX,
} from '../../domain/document.ts';
import type { ListedObject, ObjectStore } from '../../domain/ports/services.ts';
import type { Documents } from '../commands/uploads.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The log's record of the work that an object is for. */
export type WorkFate =
  /** It waits, runs, or is not billed yet. */
  | {
      readonly kind: 'open';
      /** It stays open: it is asked for again after some hours, or never again. Left out: it is about to end. */
      readonly stays?: 'hours' | 'permanently';
      /** It may end then, and is asked for again. */
      readonly until?: string;
      /** Of its objects, those that events name; left out: all may be needed. */
      readonly isNamed?: (key: string) => boolean;
    }
  | { readonly kind: 'ended'; readonly at: string; readonly tenant_id: string }
  /** It never was in the queue, or was never asked for. */
  | { readonly kind: 'unknown' };

export interface WorkObjectsDeps {
  /**
   * By the ID of what waits, of a set, run, saved config or webhook, from the log. `keeps`: a key that it needs after
   * its end.
   */
  readonly queuedFate: (id: string) => Promise<WorkFate & { readonly keeps?: string }>;
  /** Of an extraction or conversion by its ID, from the log: it ended when it was billed, or failed. */
  readonly workFate: (id: string) => Promise<WorkFate>;
}

/** Unknown objects are kept for a day after they were put. */
const KEPT_MS = DAY_MS;

/** How long something is kept, ms; for 0 days: permanently. */
const keptMs = (days: number): number => (days === 0 ? Infinity : days * DAY_MS);

/** A request that can still be accepted is accepted within minutes. */
const NEW_MS = HOUR_MS;

const FOLDERS = 'operations|training|evaluations|tables|secrets|results';
const QUEUED = new RegExp(`^(?:${FOLDERS})/((?:(?:op|bat|job|set|evr|tbl|wh)_|cfg-)[A-Za-z0-9-]+)(?:/|$)`);
const REVIEWED = /^(?:operations|reviews|results)\/(?:op|rev)_([A-Za-z0-9-]+)\//;

/** What an object is of: work, a set, a run, a table, a saved config or a webhook; of a review, its operation. */
const queuedOfKey = (key: string): string | undefined => {
  const suffix = key.startsWith(REVIEWS_PREFIX) ? REVIEWED.exec(key)?.[1] : undefined;
  return suffix === undefined ? QUEUED.exec(key)?.[1] : `op_${suffix}`;
};

/** Which part of some work is over, as reports count it, or is to be set aside; undefined while it is still needed. */
type WhatIsOver = (
  object: { readonly key: string; readonly modified_at: string },
  nowMs: number,
) => Promise<'results' | 'examples' | 'aside' | undefined>;

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

/** What is remembered of work: that it ended, or stays open. The names of its objects are too many. */
const lastingFate = (fate: KeptFate): KeptFate | undefined => {
  if (fate.kind === 'ended') return fate;
  if (fate.kind === 'unknown' || fate.stays === undefined) return undefined;
  const { isNamed: _, ...lasting } = fate;
  return lasting;
};

/** What the log said of work, by its ID: the longest known is forgotten first. */
const fatesKnown = () => {
  const known = new Map<string, Remembered>();
  const isOver = ({ fate, atMs }: Remembered, nowMs: number): boolean =>
    fate.kind === 'open' &&
    fate.stays !== 'permanently' &&
    (nowMs - atMs >= OPEN_MS || nowMs >= Date.parse(fate.until ?? NO_END));
  return {
    get: (id: string, nowMs: number): KeptFate | undefined => {
      const one = known.get(id);
      return one === undefined || isOver(one, nowMs) ? undefined : one.fate;
    },
    learn: (id: string, fate: KeptFate, atMs: number): void => {
      known.delete(id);
      const lasting = lastingFate(fate);
      if (lasting === undefined) return;
      known.set(id, { fate: lasting, atMs });
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

/** An object that no event names is set aside after a day, and is over after another one. */
const unnamed = (
  { isNamed }: Extract<KeptFate, { readonly kind: 'open' }>,
  key: string,
  ageMs: number,
): Awaited<ReturnType<WhatIsOver>> => {
  const before = keyBeforeAside(key);
  if (isNamed === undefined || ageMs < KEPT_MS || isNamed(before ?? key)) return undefined;
  return before === undefined ? 'aside' : 'results';
};

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
  if (fate.kind === 'open') return unnamed(fate, key, ageMs);
  if (ageMs < NEW_MS) return undefined;
  if (fate.keeps !== key) return 'results';
  const examplesMs = keptMs(kept.of(fate.tenant_id).examples);
  return nowMs - Date.parse(fate.at) >= examplesMs ? 'examples' : undefined;
};

/** Tells of objects what is over, in one sweep after the other. */
type WorkObjects = (kept: KeptDays) => WhatIsOver;

/**
 * Tells what is left of work that is over: whatever a request put that was never accepted, what arrived late, and
 * results and examples that were kept for as long as they are. Times are the log's; those of the store count only for
 * what the log does not know. Work that is known to be kept is not asked for again in each sweep; before anything is
 * removed, the log is asked.
 */
const workObjects = ({ queuedFate, workFate }: WorkObjectsDeps): WorkObjects => {
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
      const before = asked.has(id) ? undefined : known.get(id, nowMs);
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

/** Where requests, files, parts, keys and results of work lie. */
const WORK_PREFIXES = [
  OPERATIONS_PREFIX,
  TRAINING_PREFIX,
  EVALUATIONS_PREFIX,
  TABLES_PREFIX,
  RESULTS_PREFIX,
  REVIEWS_PREFIX,
  'secrets/',
] as const;

/** Younger than that is not looked at, ms. A request that can still be accepted is accepted within minutes. */
const WORK_AGE_MS = HOUR_MS;

/** An upload URL holds an hour: whatever is not used a day later was given up. */
const UPLOAD_AGE_MS = DAY_MS;
const OBJECTS_PAGE = 500;

/** A document whose upload was used. */
type KeptDocument = Pick<UploadPresigned['data'], 'document_id' | 'tenant_id'>;

/** The read models' list of erased documents, and the function that takes their examples from a job. */
interface ErasedDeps {
  readonly any: () => Promise<boolean>;
  /** Those of the documents, extractions and conversions that are of an erased document. */
  readonly among: (names: readonly string[]) => Promise<ReadonlySet<string>>;
  readonly ofJobs: (
    jobIds: readonly string[],
  ) => Promise<readonly (JobName & { readonly document_id: string })[]>;
  readonly forgetExamples: (documentId: string, job: JobName) => Promise<ForgottenExamples>;
  /** Ends the review of an operation, and removes what it keeps. */
  readonly forgetReview: (operationId: string) => Promise<void>;
  /** Removes what sets and runs keep of a document. */
  readonly forgetInEvaluations: (documentId: string) => Promise<void>;
}

export interface ObjectSweeperDeps extends WorkObjectsDeps {
  readonly objects: Pick<ObjectStore, 'get' | 'list' | 'put' | 'remove'>;
  readonly documents: Documents;
  /** Those of the documents that a read model knows as used and kept. May be late; the log decides. */
  readonly usedOf: (documentIds: readonly string[]) => Promise<readonly KeptDocument[]>;
  /**
   * Those of the documents that a training job was given whose examples can be exported: it has not ended, or ended at
   * `since` or later. And those that a set of examples has.
   */
  readonly learnedOf: (documents: readonly KeptDocument[], since: string) => Promise<ReadonlySet<string>>;
  /** Those of the documents that wait in a batch for their turn, or that an operation works on. */
  readonly awaitedOf: (documentIds: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Left out: nothing is ever erased. */
  readonly erased?: ErasedDeps;
  /** Finishes what is left of tenants that were erased; left out: none ever is. */
  readonly erasedTenants?: () => Promise<Removed>;
  /** Removes texts that no event names; left out: there are none. */
  readonly texts?: (signal: AbortSignal) => Promise<Removed>;
  /** How long things are kept now, from the log. */
  readonly kept: () => Promise<KeptDays>;
  /** Prunes deliveries of webhooks that were kept for as long as they are; gives how many. */
  readonly pruneDeliveries?: (kept: KeptDays) => Promise<number>;
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
  /** Leftovers of crashes or late work of erased documents and tenants. */
  readonly erased: number;
  /** Leftovers of finished work: results, requests, files, keys. */
  readonly results: number;
  /** Examples of training jobs that were kept for as long as examples are. */
  readonly examples: number;
  /** Deliveries of webhooks that are no longer listed. */
  readonly deliveries: number;
  /** Texts that people wrote and that no event names. */
  readonly texts: number;
  /** Objects that could not be looked at or removed now; the next sweep tries again. */
  readonly left: number;
}

/** Sweeps every hour. */
export type ObjectSweeper = Sweeper<ObjectSweep>;

/** What a sweeper knows from the sweeps before, and when it has to stop. */
interface Sweeping {
  readonly over: WorkObjects;
  /** Jobs and erased documents of which nothing is left to take. */
  readonly taken: Set<string>;
  readonly signal: AbortSignal;
}

/** Removes objects that nothing refers to, and what was kept for as long as it is. Runs safely beside others. */
export const objectSweeper = (deps: ObjectSweeperDeps): ObjectSweeper => {
  const stopping = new AbortController();
  const sweeping = { over: workObjects(deps), taken: new Set<string>(), signal: stopping.signal };
  const sweeper = sweeperOf(() => sweepObjects(deps, sweeping), {
    everyMs: deps.everyMs ?? HOUR_MS,
    onError: deps.onError,
  });
  return {
    ...sweeper,
    stop: () => {
      stopping.abort();
      return sweeper.stop();
    },
  };
};

interface Removed {
  readonly removed: number;
  readonly left: number;
}

/** Objects that were put before `before`, a page at a time. */
async function* oldObjects(
  { objects }: ObjectSweeperDeps,
  prefix: string,
  before: number,
): AsyncIterable<readonly ListedObject[]> {
  let page: ListedObject[] = [];
  for await (const object of objects.list(prefix)) {
    if (Date.parse(object.modified_at) < before) page.push(object);
    if (page.length === OBJECTS_PAGE) {
      yield page;
      page = [];
    }
  }
  if (page.length > 0) yield page;
}

/** As `oldObjects`, their keys. */
async function* oldKeys(
  deps: ObjectSweeperDeps,
  prefix: string,
  before: number,
): AsyncIterable<readonly string[]> {
  for await (const page of oldObjects(deps, prefix, before)) yield page.map(({ key }) => key);
}

const sweepObjects = async (deps: ObjectSweeperDeps, sweeping: Sweeping): Promise<ObjectSweep> => {
  const kept = await deps.kept();
  const now = Date.parse(deps.clock.now());
  const uploads = await removeOld(deps, oldKeys(deps, UPLOADS_PREFIX, now - UPLOAD_AGE_MS), unusedOf);
  const results = await removeOver(deps, sweeping.over, { kept, nowMs: now });
  const expired = await expireUsed(deps, kept, now);
  const tenants = (await deps.erasedTenants?.()) ?? { removed: 0, left: 0 };
  const erased = await removeErased(deps, sweeping.taken);
  const deliveries = await pruned(deps, kept);
  const texts = await alone(deps, async () => deps.texts?.(sweeping.signal));
  const report = {
    uploads: uploads.removed,
    expired: expired.removed,
    erased: erased.removed + tenants.removed,
    results: results.removed.results,
    examples: results.removed.examples,
    deliveries: deliveries.removed,
    texts: texts.removed,
    left: [uploads, expired, results, erased, deliveries, tenants, texts].reduce(
      (sum, of) => sum + of.left,
      0,
    ),
  };
  deps.onSweep?.(report);
  return report;
};

/** Removes leftovers of finished work. An undecidable one does not keep the others from being checked. */
const removeOver = async (
  deps: ObjectSweeperDeps,
  over: WorkObjects,
  { kept, nowMs }: { readonly kept: KeptDays; readonly nowMs: number },
) => {
  const done = { removed: { results: 0, examples: 0 }, left: 0 };
  const whatIsOver = over(kept);
  const look = async (object: ListedObject): Promise<void> => {
    const what = await whatIsOver(object, nowMs);
    if (what === undefined) return;
    if (what === 'aside') return setAside(deps.objects, object.key);
    await deps.objects.remove(object.key);
    done.removed[what] += 1;
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

/** A part that fails alone: the others do not depend on it. */
const alone = async (
  { onError }: ObjectSweeperDeps,
  sweep: () => Promise<Removed | undefined>,
): Promise<Removed> => {
  try {
    return (await sweep()) ?? { removed: 0, left: 0 };
  } catch (error) {
    onError?.(error);
    return { removed: 0, left: 1 };
  }
};

const pruned = (deps: ObjectSweeperDeps, kept: KeptDays): Promise<Removed> =>
  alone(deps, async () => ({ removed: (await deps.pruneDeliveries?.(kept)) ?? 0, left: 0 }));

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

/** Adds what became of an upload. */
const counting = async (
  done: { -readonly [Key in keyof Removed]: Removed[Key] },
  ending: Promise<'removed' | 'left' | 'used'>,
): Promise<void> => {
  const became = await ending;
  if (became !== 'used') done[became] += 1;
};

/** One that fails does not keep the others from being removed. */
const removeOld = async (
  deps: ObjectSweeperDeps,
  pages: AsyncIterable<readonly string[]>,
  chosen: typeof unusedOf,
): Promise<Removed> => {
  const done = { removed: 0, left: 0 };
  for await (const page of pages)
    for (const key of await chosen(deps, page)) await counting(done, removeUnused(deps, key));
  return done;
};

/** It is written down first: work that comes later, or has its file already, says of the document that it is gone. */
const removeUnused = async (deps: ObjectSweeperDeps, key: string): Promise<'removed' | 'left' | 'used'> => {
  try {
    const { presigned, registered, removed } = await deps.documents.stateOf(documentIdOfKey(key) ?? '');
    if (registered !== null && removed === null) return 'used';
    if (presigned !== null && removed === null) return await expire(deps, presigned, 'RecordUnused');
    await deps.objects.remove(key);
    return 'removed';
  } catch (error) {
    deps.onError?.(error);
    return 'left';
  }
};

/** As a caller's request removes an upload: it is written down first. One that is used by then may be kept. */
const expire = async (
  { documents, objects, clock, onError }: ObjectSweeperDeps,
  { document_id, tenant_id }: KeptDocument,
  how: DocumentCommand['type'] = 'Record',
): Promise<'removed' | 'left' | 'used'> => {
  const meta = systemMeta({ clock }, `retention-${document_id}`);
  const data = { document_id, tenant_id, reason: 'retention', removed_at: meta.now } as const;
  try {
    const outcome = await documents.record({ type: 'UploadRemoved', data }, meta, how);
    if (outcome.kind !== 'done') return 'left';
    if (how === 'RecordUnused' && outcome.state.removed === null) return 'used';
    await objects.remove(uploadKeyOf(document_id));
    return 'removed';
  } catch (error) {
    onError?.(error);
    return 'left';
  }
};

/** Those of the documents whose examples can be exported. Tenants may keep theirs for fewer days than others. */
const learnedAmong = async (
  { learnedOf }: ObjectSweeperDeps,
  used: readonly KeptDocument[],
  sinceOf: (document: KeptDocument) => string,
): Promise<ReadonlySet<string>> => {
  const learned = new Set<string>();
  for (const since of new Set(used.map(sinceOf)))
    for (const id of await learnedOf(
      used.filter((document) => sinceOf(document) === since),
      since,
    ))
      learned.add(id);
  return learned;
};

/** Used uploads of no examples that are kept, that no batch waits for, and that were sent long enough ago. */
const expireUsed = async (deps: ObjectSweeperDeps, kept: KeptDays, nowMs: number): Promise<Removed> => {
  const done = { removed: 0, left: 0 };
  const uploadsMs = (tenantId: string) => keptMs(kept.of(tenantId).uploads);
  const shortestMs = Math.min(keptMs(kept.installation.uploads), ...kept.tenants.map(uploadsMs));
  if (shortestMs === Infinity) return done;
  const learnedSince = ({ tenant_id }: KeptDocument): string => {
    const { examples } = kept.of(tenant_id);
    return examples === 0 ? '' : new Date(nowMs - examples * DAY_MS).toISOString();
  };
  for await (const page of oldObjects(deps, UPLOADS_PREFIX, nowMs - shortestMs)) {
    const sentAt = new Map(page.map(({ key, modified_at }) => [documentIdOfKey(key) ?? '', modified_at]));
    const used = (await deps.usedOf([...sentAt.keys()])).filter(
      ({ document_id, tenant_id }) =>
        Date.parse(sentAt.get(document_id) ?? '') < nowMs - uploadsMs(tenant_id),
    );
    const learned = await learnedAmong(deps, used, learnedSince);
    const awaited = await deps.awaitedOf(used.map(({ document_id }) => document_id));
    for (const document of used)
      if (!learned.has(document.document_id) && !awaited.has(document.document_id))
        await counting(done, expire(deps, document));
  }
  return done;
};

const reviewIdIn = (key: string): string => key.split('/')[1] ?? '';

/** The possible owner of an object, by the ID of its document, or of its extraction or conversion. */
const namesOfKey = (key: string): readonly string[] => {
  const suffix = REVIEWED.exec(key)?.[1];
  const work = suffix === undefined ? [] : WORK_ID_PREFIXES.map((prefix) => `${prefix}_${suffix}`);
  return [documentIdOfKey(key) ?? [], workIdOfResult(key) ?? [], work].flat();
};

/** Removes what is there and is of an erased document; without one nothing is looked at. */
const removeErased = async (deps: ObjectSweeperDeps, taken: Set<string>): Promise<Removed> => {
  const done = { removed: 0, left: 0 };
  if (deps.erased === undefined || !(await deps.erased.any())) return done;
  const { among, ofJobs, forgetExamples, forgetReview, forgetInEvaluations } = deps.erased;
  const each = async <Item>(
    items: readonly Item[],
    remove: (item: Item) => Promise<boolean>,
  ): Promise<void> => {
    for (const item of items)
      try {
        if (await remove(item)) done.removed += 1;
      } catch (error) {
        deps.onError?.(error);
        done.left += 1;
      }
  };
  for (const prefix of [UPLOADS_PREFIX, RESULTS_PREFIX, OPERATIONS_PREFIX, REVIEWS_PREFIX])
    for await (const keys of oldKeys(deps, prefix, Infinity)) {
      const erased = await among(keys.flatMap(namesOfKey));
      const theirs = keys.filter((key) => namesOfKey(key).some((name) => erased.has(name)));
      const isReview = prefix === REVIEWS_PREFIX;
      const reviews = isReview ? new Set(theirs.map((key) => operationIdOfReview(reviewIdIn(key)))) : [];
      await each([...reviews], (operationId) => forgetReview(operationId).then(() => true));
      if (!isReview) await each(theirs, (key) => deps.objects.remove(key).then(() => true));
    }
  for await (const keys of oldKeys(deps, EVALUATIONS_PREFIX, Infinity)) {
    const erased = await among(keys.flatMap((key) => documentIdOfEvaluation(key) ?? []));
    await each([...erased], (documentId) => forgetInEvaluations(documentId).then(() => true));
  }
  for await (const keys of oldKeys(deps, TRAINING_PREFIX, Infinity)) {
    const jobs = await ofJobs([...new Set(keys.flatMap((key) => key.split('/')[1] ?? []))]);
    await each(jobs, async (job) => {
      const name = `${job.job_id} ${job.document_id}`;
      if (taken.has(name)) return false;
      const became = await forgetExamples(job.document_id, job);
      if (became === 'nothing' && taken.size < REMEMBERED_MAX) taken.add(name);
      return became === 'taken';
    });
  }
  return done;
};
