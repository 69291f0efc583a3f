import { randomInt } from 'node:crypto';
import { checkSource, systemResolve } from '@quire/engine/models/guard';
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
import { namesIn, uploadStock, type UploadStock } from '../commands/slots.ts';
import { countPages, recentFailures, type Counted, type CountPagesDeps } from '../commands/countPages.ts';
import { guardedObjects, presignUpload, uploadReceiver } from '../commands/uploads.ts';
import type { ObjectSweeperDeps } from '../worker/sweeping.ts';
import { documentsInSets, evaluationsOfDocument } from '../../projections/evaluations.ts';
import { forgetInEvaluations } from '../commands/evaluationObjects.ts';
import { operations } from '../commands/operations.ts';
import { exampleStreams, jobMoney, trainingJobs } from '../commands/training.ts';
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
import { filesOnDisk, openUpload, uploads } from '../commands/fetchUpload.ts';
import { pruneDeliveries } from '../commands/webhooks.ts';
import { sweepTexts } from '../worker/textSweeping.ts';
import { workFates } from '../worker/workFates.ts';
import type { ApiDeps } from '../api/routes.ts';
import { unlessDiverged } from '../../projections/engine/divergence.ts';
import type { Context } from './context.ts';

/** Those of the documents that were used, and whose file is kept as far as the read models know. */
const usedOf = (sql: SqlTx) => {
  const known = documentsByIds(sql);
  return async (ids: readonly string[]) => (await known(ids)).filter(({ removed_at }) => removed_at === null);
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
      table: async (tenant_id, table_id, meta) =>
        (await api.tables.remove(table_id, tenant_id, meta)) === undefined,
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
    ...workFates({
      store: from.parts.log,
      objects: from.parts.objects,
      clock: from.clock,
      usage: from.usageLog,
    }),
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

/** Documents that one call counts at the same time: one, where each needs a file of its own. */
const COUNTED_AT_ONCE = { inPlace: 4, copied: 1 };

type UploadCommands = Pick<
  ApiDeps,
  | 'presign'
  | 'receiver'
  | 'uploads'
  | 'sources'
  | 'openUpload'
  | 'removeUpload'
  | 'eraseDocument'
  | 'countPages'
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
    openUpload: openUpload({ documents: own, objects }),
    ...removals(from, { objects, stock }),
    countPages: countPages({ ...work, documents: own, uploads: fetched, failures, atOnce }),
  };
};
