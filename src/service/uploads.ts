import { randomInt } from 'node:crypto';
import { checkSource } from '@quire/engine/models/guard';
import { systemResolve } from '@quire/engine/models/guard';
import { awaitedDocuments } from '../../projections/batches.ts';
import { documentsInQueue } from '../../projections/operations.ts';
import {
  anyErased,
  documentsByIds,
  erasedAmong,
  erasedOfJobs,
  uploadedBytesOfTenant,
} from '../../projections/documents.ts';
import { workOnDocument } from '../../projections/usageEvents.ts';
import type { TextVault } from '../../domain/ports/log.ts';
import type { ObjectStore } from '../../domain/ports/services.ts';
import type { SqlTx } from '../../projections/engine/ports.ts';
import { jobsLearningFrom } from '../../projections/trainingJobs.ts';
import { prunableDeliveries } from '../../projections/webhooks.ts';
import { httpSource } from '../../adapters/sources.ts';
import { SCRUB } from '../../adapters/sqlTables.ts';
import { bytesInFlight, namesIn, takenRoom, uploadStock, type UploadStock } from '../commands/slots.ts';
import { countPages, recentFailures, type Counted, type CountPagesDeps } from '../commands/countPages.ts';
import { documents, guardedObjects, presignUpload, uploadReceiver } from '../commands/uploads.ts';
import {
  objectSweeper,
  type ObjectSweeperDeps,
  type WorkFate,
  type WorkObjectsDeps,
} from '../worker/sweeping.ts';
import { usageEnd } from '../../domain/workEvents.ts';
import { batches } from '../commands/batches.ts';
import { documentsInSets, evaluationsOfDocument } from '../../projections/evaluations.ts';
import { evaluationFates, forgetInEvaluations } from '../commands/evaluationObjects.ts';
import { operations } from '../commands/operations.ts';
import { configFate } from '../commands/savedConfigs.ts';
import { expireReview } from '../commands/reviews.ts';
import { exampleStreams, jobMoney, trainingInputKeyOf, trainingJobs } from '../commands/training.ts';
import {
  eraseDocument,
  type EraseDocumentDeps,
  forgetExamples,
  forgetReview,
  removeUpload,
} from '../commands/erasing.ts';
import { type EraseTenantDeps, sweepErasures } from '../commands/eraseTenant.ts';
import { artifactsEverOf, heldByTenant, jobsEverOf, runsEverOf } from '../../projections/held.ts';
import { cancelWork } from '../commands/queue.ts';
import { filesOnDisk, uploads } from '../commands/fetchUpload.ts';
import { pruneDeliveries, webhookFate } from '../commands/webhooks.ts';
import { sweepTexts } from '../worker/textSweeping.ts';
import type { ApiDeps } from '../api/routes.ts';
import { reviewWorker } from './reviewing.ts';
import { unlessDiverged } from './upkeep.ts';
import type { Context, SomeFactories } from './context.ts';

/** Those of the documents that were used, and whose file is kept as far as the read models know. */
const usedOf = (sql: SqlTx) => {
  const known = documentsByIds(sql);
  return async (ids: readonly string[]) => (await known(ids)).filter(({ removed_at }) => removed_at === null);
};

const endedOrOpen = (
  at: string | null | undefined,
  { tenant_id }: { readonly tenant_id: string },
): WorkFate => (at == null ? { kind: 'open' } : { kind: 'ended', at, tenant_id });

/** The log's record of the work that objects are for. */
const workFates = (from: Context): WorkObjectsDeps => {
  const { log, objects } = from.parts;
  const usage = from.usageLog;
  const [ops, jobs, bats] = [operations(log), trainingJobs(log), batches(log)];
  const examples = exampleStreams(log);
  const unknown = { kind: 'unknown' } as const;
  const batchFate = async (id: string): Promise<WorkFate> => {
    const { accepted, ended } = await bats.stateOf(id);
    return accepted === null ? unknown : endedOrOpen(ended?.ended_at, accepted);
  };
  /** By the prefix of an ID; all others are batches. */
  const fates: Readonly<Record<string, WorkObjectsDeps['queuedFate']>> = {
    op: async (id) => {
      const state = await ops.stateOf(id);
      if (state.accepted === null) return unknown;
      const until = await expireReview({ store: log, clock: from.clock }, state);
      return until === undefined
        ? endedOrOpen(state.finished_at, state.accepted)
        : { kind: 'open', stays: 'hours', until };
    },
    job: async (id) => {
      const state = await jobs.stateOf(id);
      if (state.accepted === null) return unknown;
      const kept = await examples.keptOf(state.accepted);
      return {
        ...endedOrOpen(state.finished_at, state.accepted),
        keeps: trainingInputKeyOf(id, kept.input_sha256),
      };
    },
    ...evaluationFates({ store: log, objects, clock: from.clock, batches: bats }),
    cfg: configFate(log),
    wh: webhookFate(log),
  };
  return {
    queuedFate: (id) => (fates[/^[a-z]+/.exec(id)?.[0] ?? ''] ?? batchFate)(id),
    workFate: async (operation_id) => {
      const operation = operation_id.startsWith('ext_') ? 'extract' : 'to_markdown';
      const state = await usage.stateOf({ operation, operation_id });
      const end = usageEnd(state);
      if (end !== null) return { kind: 'ended', ...end };
      return state.requested === null ? unknown : { kind: 'open' };
    },
  };
};

/** Examples of training jobs, where documents that they were made of are erased. */
const examplesOf = ({ parts: { log, objects }, clock }: Context) => ({
  objects,
  clock,
  jobs: trainingJobs(log),
  examples: exampleStreams(log),
});

const forgetTexts = ({ parts: { log } }: Context): TextVault['forget'] =>
  log.vault?.forget ?? (() => Promise.resolve());

/** The reviews of documents that are erased. */
const reviewsOf = (from: Context) => {
  const { log: store, objects } = from.parts;
  return { store, objects, clock: from.clock, operations: operations(store), forgetTexts: forgetTexts(from) };
};

/** What takes away all that a tenant has: each thing as its own route does. */
export const tenantErasing = (from: Context): EraseTenantDeps => {
  const { log: store, objects } = from.parts;
  const { readSql: sql, reads, api, clock, logger, documents: own } = from;
  const isDone = ({ kind }: { readonly kind: string }) => kind === 'done';
  const isAnswered = ({ kind }: { readonly kind: string }) => kind === 'answered';
  return {
    store,
    objects,
    clock,
    documents: own,
    replays: from.replays,
    forgetTexts: forgetTexts(from),
    heldBy: heldByTenant(sql),
    // What a server keeps of deleted rows, and for how long, is up to who runs it.
    scrub: async () => {
      if (from.config.databaseUrl !== undefined) return;
      for (const statement of SCRUB) await from.parts.sql.script(statement);
    },
    learnedBy: async (erasure) => ({
      artifacts: await artifactsEverOf(sql)(erasure),
      jobs: await jobsEverOf(sql)(erasure),
      runs: await runsEverOf(sql)(erasure),
    }),
    remove: {
      key: async (_, key_id, meta) => {
        const { key } = await api.apiKeys.stateOf(key_id);
        const isRevoked = isDone(await api.apiKeys.revoke(key_id, meta));
        if (isRevoked && key !== null) from.authenticator.refuse(key.key_hash);
        return isRevoked;
      },
      webhook: async (tenant_id, webhook_id, meta) =>
        isDone(await api.webhooks.remove({ tenant_id, webhook_id }, meta)),
      operation: async (tenant_id, operation_id, meta) =>
        isAnswered(await api.operations.cancel({ tenant_id, operation_id }, meta)),
      batch: async (tenant_id, batch_id, meta) =>
        isAnswered(await api.batches.cancel({ tenant_id, batch_id }, meta)),
      job: async (tenant_id, job_id, meta) =>
        isAnswered(await api.pipelines.cancelJob({ tenant_id, job_id }, meta)),
      set: async (tenant_id, set_id, meta) => (await api.sets.remove(set_id, tenant_id, meta)) === undefined,
      config: async (_, config_id, meta) => isDone(await api.savedConfigs.revoke(config_id, meta)),
      deployment: async (tenant_id, scope, meta) => {
        const [project_id = '', task_id = '', environment = ''] = JSON.parse(scope) as readonly string[];
        return api.pipelines.deployments.retire({ tenant_id, project_id, task_id, environment }, meta);
      },
      document: async (tenant_id, document_id, meta) =>
        (await api.eraseDocument({ tenant_id, allTenants: false }, document_id, meta)) === undefined,
    },
    settle: async (tenantId) => {
      reads.note(tenantId, await store.head());
      await reads.settle(tenantId);
    },
    onError: unlessDiverged((err) => logger.error({ msg: 'erasing a tenant', err })),
  };
};

/** What sets of examples and their runs keep of a document. */
const inEvaluations = (from: Context) =>
  forgetInEvaluations({
    store: from.parts.log,
    objects: from.parts.objects,
    clock: from.clock,
    wrote: (tenantId, position) => from.reads.note(tenantId, position),
    keeping: evaluationsOfDocument(from.readSql),
  });

/** Input of a sweep of objects, and the receiver of its reports. */
export const sweptObjects = (from: Context): ObjectSweeperDeps => {
  const logger = from.logger;
  const count = from.countSwept;
  const sql = from.readSql;
  const onError = unlessDiverged((err) => logger.error({ msg: 'object sweep failed', err }));
  return {
    objects: from.parts.objects,
    documents: from.documents,
    ...workFates(from),
    usedOf: usedOf(sql),
    learnedOf: async (documents, since) => {
      const learned = await jobsLearningFrom(sql)(documents, { open: true, since });
      const inSets = await documentsInSets(sql)(documents.map(({ document_id }) => document_id));
      return new Set([...learned.map(({ document_id }) => document_id), ...inSets]);
    },
    awaitedOf: async (ids) =>
      new Set([...(await awaitedDocuments(sql)(ids)), ...(await documentsInQueue(sql)(ids))]),
    erased: {
      any: anyErased(sql),
      among: async (names) => new Set(await erasedAmong(sql)(names)),
      ofJobs: erasedOfJobs(sql),
      forgetExamples: (documentId, job) => forgetExamples(examplesOf(from), documentId, job),
      forgetReview: (operationId) => forgetReview(reviewsOf(from), operationId),
      forgetInEvaluations: inEvaluations(from),
    },
    erasedTenants: sweepErasures(tenantErasing(from)),
    texts: sweepTexts({
      feed: from.parts.log,
      objects: from.parts.objects,
      seed: randomInt(2 ** 31),
      onError,
      nowMs: () => Date.parse(from.clock.now()),
    }),
    kept: from.retention.kept,
    pruneDeliveries: pruneDeliveries({
      store: from.parts.log,
      clock: from.clock,
      prunable: prunableDeliveries(sql),
    }),
    clock: from.clock,
    onSweep: (report) => {
      count('upload', 'settled', report.uploads);
      count('expired_upload', 'settled', report.expired);
      count('erased', 'settled', report.erased);
      count('result', 'settled', report.results);
      count('example', 'settled', report.examples);
      count('delivery', 'settled', report.deliveries);
      count('text', 'settled', report.texts);
      count('object', 'left', report.left);
      if (Object.values(report).some((count) => count > 0)) logger.info({ msg: 'object sweep', ...report });
    },
    onError,
  };
};

/** A tenant may send this many files of the largest size at once. */
const FILES_IN_FLIGHT = 4;

/** Documents and what becomes of the objects that nobody uses. */
export const uploadsParts = {
  reviewWorker: () => reviewWorker(),
  documents: (from) => documents(from.parts.log),
  operationRoom: () => takenRoom(),
  inFlight: (from) => bytesInFlight(FILES_IN_FLIGHT * from.config.maxUploadBytes),
  objectSweeper: (from) => objectSweeper(sweptObjects(from)),
} satisfies SomeFactories;

/** Documents that one call counts at the same time: one, where each needs a file of its own. */
const COUNTED_AT_ONCE = { inPlace: 4, copied: 1 };

type UploadCommands = Pick<
  ApiDeps,
  'presign' | 'receiver' | 'uploads' | 'sources' | 'removeUpload' | 'eraseDocument' | 'countPages'
>;

const stockOf = (from: Context): UploadStock => {
  const { sql, objects } = from.parts;
  const kept = usedOf(sql);
  const bytesOf = uploadedBytesOfTenant(sql);
  return uploadStock({
    objects: guardedObjects(objects),
    documents: from.documents,
    usedBytesOf: async (tenantId, ids) => {
      const { bytes, used } = await bytesOf(tenantId, ids);
      return { bytes, used: namesIn(used) };
    },
    usedOf: async (ids) => new Set((await kept(ids)).map(({ document_id }) => document_id)),
    quotaBytes: from.config.uploadQuotaBytes,
    nowMs: () => performance.now(),
  });
};

/** What takes documents away. */
const removals = (
  from: Context,
  { objects, stock }: { readonly objects: ObjectStore; readonly stock: UploadStock },
): Pick<ApiDeps, 'removeUpload' | 'eraseDocument'> => {
  const reads = from.reads;
  const { sql, log: store } = from.parts;
  const learningFrom = jobsLearningFrom(sql);
  const clock = from.clock;
  const jobs = {
    store,
    objects,
    clock,
    jobs: trainingJobs(store),
    accounts: from.accounts,
    wrote: (tenantId: string, position: bigint) => reads.note(tenantId, position),
  };
  const deps: EraseDocumentDeps = {
    ...examplesOf(from),
    ...reviewsOf(from),
    documents: from.documents,
    objects,
    stock,
    replays: from.replays,
    workOn: ({ document_id }) => workOnDocument(sql)(document_id),
    awaitedOf: async (ids) => new Set(await awaitedDocuments(sql)(ids)),
    learningFrom: (document, which) => learningFrom([document], which),
    cancelJob: (name, meta) => cancelWork(jobs, jobMoney(jobs), { name, meta }),
    clock,
    forgetInEvaluations: inEvaluations(from),
    settle: async (tenantId, position) => {
      reads.note(tenantId, position);
      await reads.settle(tenantId);
    },
  };
  return { removeUpload: removeUpload(deps), eraseDocument: eraseDocument(deps) };
};

/** Dependencies of the routes of uploads and documents. */
export const uploadCommands = (
  from: Context,
  work: Omit<CountPagesDeps, 'documents' | 'uploads' | 'failures' | 'atOnce'>,
): UploadCommands => {
  const parts = from.parts;
  const { maxUploadBytes: bytesMax, sourceUrls } = from.config;
  const clock = from.clock;
  const own = from.documents;
  const objects = guardedObjects(parts.objects);
  const files = filesOnDisk({ objects, uploadDir: parts.uploadDir, bytesMax });
  const fetched = uploads({ documents: own, objects, files, bytesMax });
  const failures = recentFailures<Counted>(() => performance.now());
  const atOnce = objects.link === undefined ? COUNTED_AT_ONCE.copied : COUNTED_AT_ONCE.inPlace;
  const stock = stockOf(from);
  const inFlight = from.inFlight;
  return {
    presign: presignUpload({
      documents: own,
      targets: parts.uploads.targets,
      clock,
      bytesMax,
      stock,
      isSentElsewhere: parts.uploads.signatures === undefined,
    }),
    receiver: uploadReceiver({
      documents: own,
      objects,
      signatures: parts.uploads.signatures,
      clock,
      limiter: parts.limiter,
      inFlight,
      stock,
      onStored: failures.forget,
    }),
    uploads: fetched,
    sources: {
      source: sourceUrls.allowed ? httpSource() : undefined,
      checkSource: (url) =>
        checkSource(url, { allowPrivateNetwork: sourceUrls.allowPrivateNetwork, resolve: systemResolve }),
      dir: parts.uploadDir,
      bytesMax,
      inFlight,
    },
    ...removals(from, { objects, stock }),
    countPages: countPages({ ...work, documents: own, uploads: fetched, failures, atOnce }),
  };
};
