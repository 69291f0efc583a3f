import {
  batchesToBegin,
  batchesToEnd,
  documentsLeft,
  openBatchesOfTenant,
  operationsToCancel,
  progressOfBatch,
} from '../../../projections/batches.ts';
import { acceptBatch, type BatchCommands, batches, cancelBatch } from '../../commands/batches.ts';
import { uploads } from '../../commands/fetchUpload.ts';
import { heavySlots } from '../../commands/slots.ts';
import { batchWorker, FED_AT_ONCE, type BatchWorker } from '../../worker/batches.ts';
import { unlessDiverged } from '../start/logWatchParts.ts';
import type { Context, SomeFactories } from '../context.ts';
import { operationCommands, taskBeginner } from './operationParts.ts';
import { workDeps, type WorkDeps } from './workParts.ts';

/** What the routes of batches call. */
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

const batchWorkerOf = (from: Context): BatchWorker => {
  // Its documents have places of their own: requests that wait for an answer keep their slots.
  const work = { ...workDeps(from), slots: heavySlots(FED_AT_ONCE * FED_AT_ONCE) };
  const { objects, clock, wrote, store } = work;
  const sql = from.readSql;
  const logger = from.logger;
  const { maxUploadBytes: bytesMax } = from.config;
  const { uploadDir, workers } = from.parts;
  return batchWorker({
    ...{ objects, clock, wrote, batches: batches(store), secrets: from.secretBox },
    operations: operationCommands(from, work),
    uploads: uploads({ documents: from.documents, objects, uploadDir, bytesMax }),
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

/** The worker that makes operations of the documents of batches. */
export const batchesParts = {
  batchWorker: batchWorkerOf,
} satisfies SomeFactories;
