import { readFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { modelWork } from '@quire/engine/models/byModel/workByModel';
import { openLlmTrainer } from '@quire/engine/learning/prompts/llmTrainer';
import { modelCallFact } from '../commands/llmCosts.ts';
import type { ModelDeps } from '../commands/models.ts';
import type { LogCall } from '../commands/deliverWork.ts';
import type { Context } from './context.ts';
import { activeBillingConfig } from '../../domain/billingConfig.ts';
import { extractDocument, type ExtractDeps } from '../commands/extract.ts';
import { guardedObjects } from '../commands/uploads.ts';
import {
  CONVERT_DEADLINE_MS,
  INSPECT_DEADLINE_MS,
  LONG_PAGES_MAX,
  PAGES_MAX,
  EXTRACT_DEADLINES_MS,
  LEARN_DEADLINE_MS,
} from '../parts/documents.ts';
import {
  longRunningOperations,
  openOperationsOfTenant,
  operationLists,
} from '../../projections/operations.ts';
import {
  acceptOperation,
  keyOfResult,
  operationMoney,
  operationProblems,
  operations,
  type OperationCommands,
} from '../commands/operations.ts';
import { abandonWork, cancelWork } from '../commands/queue.ts';
import { artifacts, deployments, type PipelineCommands } from '../commands/deployments.ts';
import {
  createTrainingJob,
  type CreateTrainingDeps,
  exampleStreams,
  jobMoney,
  trainingJobs,
} from '../commands/training.ts';
import { convertDocument } from '../commands/convert.ts';
import { type SortDeps, sortDocument } from '../commands/sortDocument.ts';
import { storedBody, storedRequest } from '../commands/storedResult.ts';
import { beginTask, bringTo, operationWorker, type TaskBeginner } from '../worker/operations.ts';
import { listsOn } from '../../projections/queue.ts';
import type { QueueWorker } from '../worker/queue.ts';
import { unlessDiverged } from '../../projections/engine/divergence.ts';
import {
  batchesToBegin,
  batchesToEnd,
  documentsLeft,
  openBatchesOfTenant,
  operationsToCancel,
  progressOfBatch,
} from '../../projections/batches.ts';
import { acceptBatch, batches, cancelBatch, type BatchCommands } from '../commands/batches.ts';
import { uploadKeyOf } from '../../domain/document.ts';
import { decidedExamples } from '../commands/reviews.ts';
import { decisionsOfTenant } from '../../projections/reviews.ts';
import { runsToScore } from '../../projections/evaluations.ts';
import {
  acceptRun,
  examplesOfSet,
  findSet,
  ownerOfSet,
  publishSet,
  removeSet,
  reports,
  runSchemas,
  setExamplesOn,
  wrongValues,
} from '../commands/evaluations.ts';
import type { TableCommands } from '../api/masterTables.ts';
import { findTable, ownerOfTable, publishTable, removeTable, tableRows } from '../commands/masterTables.ts';
import { trainingExamples } from '../commands/trainingExamples.ts';
import { evaluationWorker, type EvaluationWorker } from '../worker/evaluations.ts';
import { filesOnDisk, keepRequestFile, uploadedExamples, uploads } from '../commands/fetchUpload.ts';
import { lookedUp } from '../rules/lookups.ts';
import { heavySlots } from '../commands/slots.ts';
import { batchWorker, FED_AT_ONCE, type BatchWorker } from '../worker/batches.ts';
import type { Trainer } from '../../domain/ports/trainer.ts';
import type { SecretBox } from '../../domain/ports/services.ts';
import { jobLists } from '../../projections/trainingJobs.ts';
import type { CountPagesDeps } from '../commands/countPages.ts';
import { exportExamples, keptInput } from '../commands/exportExamples.ts';
import type { ApiDeps } from '../api/routes.ts';
import { scoredBeside, trainer, trainingWorker } from '../worker/training.ts';
import { countedCalls, rangesRead } from '../telemetry/workMetrics.ts';

/** Models as work on documents needs them: to do it, and to log what each call of one used. */
const modelParts = (from: Context): ModelDeps & { readonly logCall: LogCall } => {
  const { workers } = from.parts;
  const providers = from.models;
  const clock = from.clock;
  const facts = from.facts;
  return {
    checkBase: providers.checkBase,
    modelWork: modelWork({
      providers,
      tools: workers.tools,
      parser: workers.parser,
      ranged: workers.ranged,
      schemas: workers.schemaValidator,
      localDeadlinesMs: from.config.localDeadlinesMs,
      readFile: (path) => readFile(path),
    }),
    logCall: countedCalls(from.providerMetrics, (work, call) =>
      facts.record(modelCallFact(clock, work, call)),
    ),
  };
};

/** What work on documents stands on. */
type WorkDeps = ExtractDeps & SortDeps & { readonly convertDeadlineMs: number };

export const workDeps = (from: Context): WorkDeps => {
  const { log, objects, workers } = from.parts;
  const clock = from.clock;
  const reference = from.reference;
  const reads = from.reads;
  const wrote = (tenantId: string, position: bigint) => reads.note(tenantId, position);
  const { platformModels, localDeadlinesMs } = from.config;
  return {
    accounts: from.accounts,
    billingConfig: async (version) => {
      const state = await reference.billingConfig();
      const config = version === undefined ? activeBillingConfig(state) : state.versions[version - 1];
      if (config === undefined) throw new Error('there is no such billing config yet');
      return config;
    },
    clock,
    store: log,
    objects: guardedObjects(objects),
    parser: workers.parser,
    engine: workers.localEngine,
    usage: from.usageLog,
    slots: from.slots,
    overruns: from.overruns,
    handsOver: true,
    onUnkept: from.unkeptResults,
    facts: from.facts,
    ...modelParts(from),
    pagesMax: PAGES_MAX,
    longPagesMax: LONG_PAGES_MAX,
    ranged: workers.ranged,
    sorter: workers.sorter,
    tools: workers.tools,
    inspectDeadlineMs: INSPECT_DEADLINE_MS,
    convertDeadlineMs: CONVERT_DEADLINE_MS,
    deadlineMs: from.extractDeadlines,
    localDeadlinesMs,
    platformModels,
    rules: from.rulesWorker,
    lookUp: lookedUp({ worker: from.lookupWorker, objects: guardedObjects(objects) }),
    wrote,
  };
};

/** Dependencies of the routes of operations. */
export const operationCommands = (from: Context, work: WorkDeps): OperationCommands => {
  const streams = operations(work.store);
  const deps = {
    ...work,
    operations: streams,
    secrets: from.secretBox,
    openOf: openOperationsOfTenant(from.readSql),
    quotaBytes: from.config.uploadQuotaBytes,
    room: from.operationRoom,
  };
  const problems = operationProblems(work.objects);
  const money = operationMoney(deps);
  return {
    accept: acceptOperation(deps),
    cancel: (name, meta) => cancelWork(deps, money, { name, meta }),
    abandon: (name) => abandonWork(deps, money, name),
    streams,
    resultDays: async (tenantId) => (await from.retention.kept()).of(tenantId).results,
    result: async (state, ends) => {
      const key = keyOfResult(state);
      return key === undefined ? undefined : await storedBody(work.objects, key, ends);
    },
    problem: (operationId) => problems.find(operationId),
    waitedResult: (key, ends) => storedBody(work.objects, key, ends),
    requestOf: (key) => storedRequest(work.objects, key),
  };
};

/** What begins the work of operations. */
const taskBeginner = (work: WorkDeps): TaskBeginner => {
  const { store, objects } = work;
  return beginTask({
    artifacts: artifacts({ store, objects, jobs: trainingJobs(store) }),
    extract: extractDocument(work),
    convert: convertDocument(work),
    sort: sortDocument(work),
  });
};

export const operationWorkerOf = (from: Context): QueueWorker => {
  const work = workDeps(from);
  const sql = from.readSql;
  const logger = from.logger;
  const { workers } = from.parts;
  return operationWorker({
    ...work,
    operations: operations(work.store),
    secrets: from.secretBox,
    begin: taskBeginner(work),
    bring: bringTo(from.parts.uploadDir),
    worker: `${hostname()}-${randomUUID().slice(0, 8)}`,
    tickMs: 2_000,
    places: from.config.workerPlaces,
    turns: { listen: (charged) => workers.listen(charged) },
    lists: listsOn(operationLists, sql),
    longRunning: (limit) => longRunningOperations(sql)(PAGES_MAX, limit),
    onRead: rangesRead(from.registry),
    onError: unlessDiverged((err) => logger.error({ msg: 'operation', err })),
  });
};

/** Dependencies of the routes of batches. */
export const batchCommands = (from: Context, work: WorkDeps): BatchCommands => {
  const streams = batches(work.store);
  const { clock, objects, wrote } = work;
  const secrets = from.secretBox;
  const openOf = openBatchesOfTenant(from.readSql);
  return {
    accept: acceptBatch({ batches: streams, store: work.store, objects, secrets, clock, openOf, wrote }),
    cancel: cancelBatch({ batches: streams, wrote }),
    streams,
  };
};

export const batchWorkerOf = (from: Context): BatchWorker => {
  // Its documents have places of their own: requests that wait for an answer keep their slots.
  const work = { ...workDeps(from), slots: heavySlots(FED_AT_ONCE * FED_AT_ONCE) };
  const { objects, clock, wrote, store } = work;
  const sql = from.readSql;
  const logger = from.logger;
  const { maxUploadBytes: bytesMax } = from.config;
  const { uploadDir, workers } = from.parts;
  return batchWorker({
    objects,
    clock,
    wrote,
    batches: batches(store),
    secrets: from.secretBox,
    operations: operationCommands(from, work),
    uploads: uploads({
      documents: from.documents,
      objects,
      bytesMax,
      files: filesOnDisk({ objects, uploadDir, bytesMax }),
    }),
    usage: work.usage,
    bring: bringTo(uploadDir),
    begin: taskBeginner(work),
    turns: { listen: (charged) => workers.listen(charged) },
    lists: {
      toBegin: batchesToBegin(sql),
      left: documentsLeft(sql),
      toCancel: operationsToCancel(sql),
      toEnd: batchesToEnd(sql),
      progress: progressOfBatch(sql),
    },
    onError: unlessDiverged((err) => logger.error({ msg: 'batch', err })),
  });
};

/** Dependencies of the routes of sets and runs. */
export const evaluationCommands = (
  work: WorkDeps,
  { uploads, countPages }: Pick<ApiDeps, 'uploads' | 'countPages'>,
  { from, accept }: Pick<BatchCommands, 'accept'> & { readonly from: Context },
): Pick<ApiDeps, 'sets' | 'runs'> => {
  const { store, objects, clock, wrote } = work;
  const deps = { store, objects, clock, wrote };
  const { readSql, reviewWorker: worker } = from;
  const { uploadDir } = from.parts;
  const { maxUploadBytes } = from.config;
  return {
    sets: {
      publish: publishSet({
        ...deps,
        examples: trainingExamples({ uploads, countPages, setExamples: setExamplesOn(deps) }),
        decided: decidedExamples({
          ...deps,
          worker,
          operations: operations(store),
          decisions: decisionsOfTenant(readSql),
          keepFile: keepRequestFile({
            ...deps,
            documents: from.documents,
            uploadDir,
            bytesMax: maxUploadBytes,
          }),
        }),
      }),
      remove: removeSet(deps),
      find: (tenantId, setId) => findSet(deps, tenantId, setId),
      ownerOf: (setId) => ownerOfSet(deps, setId),
      examplesOf: (set) => examplesOfSet(deps, set),
    },
    runs: {
      accept: acceptRun({ ...deps, accept }),
      reportOf: (runId, digest) => reports(objects).get(runId, digest),
      schemaOf: (runId, digest) => runSchemas(objects).get(runId, digest),
      wrongIn: (...place) => wrongValues(objects).get(...place),
      fileOf: (documentId) => objects.open(uploadKeyOf(documentId)),
    },
  };
};

export const evaluationWorkerOf = (from: Context): EvaluationWorker => {
  const { objects, clock, wrote, store } = workDeps(from);
  const logger = from.logger;
  return evaluationWorker({
    store,
    objects,
    clock,
    wrote,
    batches: batches(store),
    operations: operations(store),
    score: from.parts.workers.tools.score,
    scoreDeadlineMs: from.config.localDeadlinesMs.standard,
    toScore: runsToScore(from.readSql),
    onError: unlessDiverged((err) => logger.error({ msg: 'evaluation', err })),
  });
};

type CreateParts = Pick<
  CreateTrainingDeps,
  'accounts' | 'store' | 'clock' | 'wrote' | 'objects' | 'billingConfig' | 'checkBase' | 'documents'
> &
  Pick<CountPagesDeps, 'parser' | 'pagesMax'> & {
    readonly parser: Parameters<typeof exportExamples>[0]['parser'];
  };

/** Dependencies of the routes of tables, and of what looks values up in them. */
export const tableCommands = (from: Context): TableCommands => {
  const { log: store, objects: stored, workers } = from.parts;
  const wrote = (tenantId: string, position: bigint) => from.reads.note(tenantId, position);
  const objects = guardedObjects(stored);
  const deps = { store, objects, clock: from.clock, tools: workers.tools, wrote };
  return {
    publish: publishTable({
      ...deps,
      stockOf: async (tenantId) => {
        await from.reads.settle(tenantId);
        return from.queries.tableStockOfTenant(tenantId);
      },
    }),
    remove: removeTable(deps),
    find: (tenantId, table) => findTable(deps, tenantId, table),
    ownerOf: (tableId) => ownerOfTable(deps, tableId),
    rows: (version, asked) => tableRows(deps, version, asked),
  };
};

/** Dependencies of the routes of training jobs, artifacts and deployments. */
export const pipelineCommands = (
  work: CreateParts,
  api: Pick<ApiDeps, 'uploads' | 'countPages'>,
  secrets: SecretBox | undefined,
): PipelineCommands => {
  const { store, objects, clock, wrote } = work;
  const jobs = trainingJobs(store);
  const found = artifacts({ store, objects, jobs });
  const kept = exampleStreams(store);
  const deps = { ...work, ...api, jobs, secrets, setExamples: setExamplesOn({ store, objects }) };
  const source = uploadedExamples(api.uploads);
  return {
    createJob: createTrainingJob(deps),
    cancelJob: (name, meta) => cancelWork(deps, jobMoney(deps), { name, meta }),
    keptInput: (job) => keptInput({ objects, kept }, job),
    exportExamples: exportExamples({ ...deps, kept, source, deadlineMs: CONVERT_DEADLINE_MS }),
    jobs,
    artifacts: found,
    deployments: deployments({ store, artifacts: found, clock, wrote }),
  };
};

/** The worker of training jobs. */
export const trainingWorkerOf = (from: Context): QueueWorker => {
  const { log: store, objects: stored } = from.parts;
  const reads = from.reads;
  const logger = from.logger;
  const objects = guardedObjects(stored);
  const jobs = trainingJobs(store);
  return trainingWorker({
    store,
    objects,
    jobs,
    trainer: from.trainer,
    secrets: from.secretBox,
    accounts: from.accounts,
    clock: from.clock,
    wrote: (tenantId, position) => reads.note(tenantId, position),
    artifacts: artifacts({ store, objects, jobs }),
    source: uploadedExamples(from.api.uploads),
    worker: `${hostname()}-${randomUUID().slice(0, 8)}`,
    tickMs: 5_000,
    lists: listsOn(jobLists, from.readSql),
    onError: unlessDiverged((err) => logger.error({ msg: 'training', err })),
  });
};

export const trainerOf = (from: Context): Trainer => {
  const { workers } = from.parts;
  const { platformModels, localDeadlinesMs } = from.config;
  const { logCall } = modelParts(from);
  return trainer({
    parser: workers.parser,
    learner: workers.learner,
    pagesMax: PAGES_MAX,
    parseDeadlinesMs: localDeadlinesMs,
    learnDeadlineMs: LEARN_DEADLINE_MS,
    llmTrainer: openLlmTrainer({
      providers: from.models,
      requestDeadlineMs: EXTRACT_DEADLINES_MS.standard,
      score: scoredBeside(workers.tools, localDeadlinesMs.fast),
    }),
    platformModels,
    logCall,
  });
};
