import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { openOperationsOfTenant, operationLists } from '../../../projections/operations.ts';
import {
  acceptOperation,
  keyOfResult,
  type OperationCommands,
  operationMoney,
  operationProblems,
  operations,
} from '../../commands/operations.ts';
import { abandonWork, cancelWork } from '../../commands/queue.ts';
import { artifacts } from '../../commands/deployments.ts';
import { trainingJobs } from '../../commands/training.ts';
import { convertDocument } from '../../commands/convert.ts';
import { extractDocument } from '../../commands/extract.ts';
import { storedBody } from '../../commands/storedResult.ts';
import { beginTask, bringTo, operationWorker, type TaskBeginner } from '../../worker/operations.ts';
import { listsOn } from '../../../projections/queue.ts';
import type { QueueWorker } from '../../worker/queue.ts';
import { unlessDiverged } from '../start/logWatchParts.ts';
import type { Context, SomeFactories } from '../context.ts';
import { workDeps, type WorkDeps } from './workParts.ts';

/** What the routes of operations call. */
export const operationCommands = (from: Context, work: WorkDeps): OperationCommands => {
  const streams = operations(work.store);
  const deps = {
    ...work,
    operations: streams,
    secrets: from.secretBox,
    openOf: openOperationsOfTenant(from.readSql),
    quotaBytes: from.config.uploadQuotaBytes,
  };
  const problems = operationProblems(work.objects);
  const money = operationMoney(deps);
  return {
    accept: acceptOperation(deps),
    cancel: (name, meta) => cancelWork(deps, money, { name, meta }),
    abandon: (name) => abandonWork(deps, money, name),
    streams,
    result: async (state, ends) => {
      const key = keyOfResult(state);
      return key === undefined ? undefined : await storedBody(work.objects, key, ends);
    },
    problem: (operationId) => problems.find(operationId),
  };
};

/** What begins the work of operations. */
export const taskBeginner = (work: WorkDeps): TaskBeginner => {
  const { store, objects } = work;
  return beginTask({
    artifacts: artifacts({ store, objects, jobs: trainingJobs(store) }),
    extract: extractDocument(work),
    convert: convertDocument(work),
  });
};

const operationWorkerOf = (from: Context): QueueWorker => {
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
    onError: unlessDiverged((err) => logger.error({ msg: 'operation', err })),
  });
};

/** The worker that does what was accepted to be done later. */
export const operationsParts = {
  operationWorker: operationWorkerOf,
} satisfies SomeFactories;
