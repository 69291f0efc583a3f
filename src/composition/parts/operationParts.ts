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
import { bind, resolve, type Container } from '../token.ts';
import * as t from '../tokens.ts';
import { workDeps, type WorkDeps } from './workParts.ts';

/** What the routes of operations call. */
export const operationCommands = (from: Container, work: WorkDeps): OperationCommands => {
  const streams = operations(work.store);
  const deps = {
    ...work,
    operations: streams,
    secrets: resolve(from, t.SECRET_BOX),
    openOf: openOperationsOfTenant(resolve(from, t.READ_SQL)),
    quotaBytes: resolve(from, t.CONFIG).uploadQuotaBytes,
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

const workerOf = (from: Container): QueueWorker => {
  const work = workDeps(from);
  const sql = resolve(from, t.READ_SQL);
  const logger = resolve(from, t.LOGGER);
  const { workers } = resolve(from, t.PARTS);
  return operationWorker({
    ...work,
    operations: operations(work.store),
    secrets: resolve(from, t.SECRET_BOX),
    begin: taskBeginner(work),
    bring: bringTo(resolve(from, t.PARTS).uploadDir),
    worker: `${hostname()}-${randomUUID().slice(0, 8)}`,
    tickMs: 2_000,
    places: resolve(from, t.CONFIG).workerPlaces,
    turns: { listen: (charged) => workers.listen(charged) },
    lists: listsOn(operationLists, sql),
    onError: unlessDiverged((err) => logger.error({ msg: 'operation', err })),
  });
};

/** The worker that does what was accepted to be done later. */
export const bindOperations = (container: Container): void => {
  bind(container, t.OPERATION_WORKER, workerOf);
};
