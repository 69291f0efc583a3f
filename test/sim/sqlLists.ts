import {
  awaitedDocuments,
  batchesToBegin,
  batchesToEnd,
  documentsLeft,
  openBatchesOfTenant,
  operationsToCancel,
  progressOfBatch,
} from '../../projections/batches.ts';
import { expiredHolds } from '../../projections/balances.ts';
import { dueDeliveries, webhooksDue } from '../../projections/deliveries.ts';
import { anyErased, erasedAmong } from '../../projections/documents.ts';
import type { SqlTx } from '../../projections/engine/ports.ts';
import { runsToScore } from '../../projections/evaluations.ts';
import { heldByTenant } from '../../projections/held.ts';
import { openClaimsBefore, openTransfersBefore } from '../../projections/openClaims.ts';
import {
  openOperationsOfTenant,
  longRunningOperations,
  operationLists,
} from '../../projections/operations.ts';
import { listsOn } from '../../projections/queue.ts';
import { jobLists } from '../../projections/trainingJobs.ts';
import { abandonedWorkBefore, unrecordedWorkBefore, workOnDocument } from '../../projections/usageEvents.ts';
import {
  failingSince,
  prunableDeliveries,
  webhookIdsOfTenant,
  webhooksRemoved,
} from '../../projections/webhooks.ts';
import type { Lists } from './lists.ts';

type Read<Answer> = Answer extends readonly (infer Row)[] ? readonly Row[] : Answer;
type Later<Ask> = Ask extends (...asked: infer Asked) => infer Answer
  ? (...asked: Asked) => Promise<Read<Answer>>
  : never;

/** Every question that processes ask, and nothing that only invariants look at. */
type Questions = Omit<Lists, 'webhooks'> & { readonly webhooks: Omit<Lists['webhooks'], 'deliveries'> };

/** The same questions, of a database. A question that is missing here does not compile. */
export type ListsBySql = {
  readonly [Group in keyof Questions]: {
    readonly [Question in keyof Questions[Group]]: Later<Questions[Group][Question]>;
  };
};

type QueueRow<Key extends string> = Readonly<Record<Key | 'tenant_id', string>>;

/** The lists of a queue, in which the ID of the work is called the same for all kinds of work. */
const queueOf = <Key extends string>(
  key: Key,
  lists: ReturnType<typeof listsOn<QueueRow<Key>>>,
): ListsBySql['jobs'] => {
  const named = (row: QueueRow<Key>) => ({ id: row[key], tenant_id: row.tenant_id });
  return {
    waiting: async (now, limit) => (await lists.waiting(now, limit)).map(named),
    expired: async (now, limit) => (await lists.expired(now, limit)).map(named),
    running: async (limit) => (await lists.running(limit)).map((row) => ({ ...named(row), mark: row.mark })),
    unsettled: async (after, limit) =>
      (await lists.unsettled(after, limit)).map((row) => ({ ...named(row), rank: row.rank })),
    orphans: async (before, limit) => (await lists.orphans(before, limit)).map(named),
  };
};

/** What an erasure takes away of work and documents; of the rest `belongings.ts` tells. */
export const TAKEN: ReadonlySet<string> = new Set(['batch', 'operation', 'document']);

/** The lists of the product itself, on its read models. */
export const listsBySql = (sql: SqlTx): ListsBySql => ({
  operations: {
    ...queueOf('operation_id', listsOn(operationLists, sql)),
    longRunning: async (pagesMax, limit) =>
      (await longRunningOperations(sql)(pagesMax, limit)).map(({ operation_id, tenant_id }) => ({
        id: operation_id,
        tenant_id,
      })),
  },
  jobs: queueOf('job_id', listsOn(jobLists, sql)),
  batches: {
    toBegin: batchesToBegin(sql),
    left: documentsLeft(sql),
    toCancel: operationsToCancel(sql),
    toEnd: batchesToEnd(sql),
    progress: progressOfBatch(sql),
    toScore: runsToScore(sql),
    openOfTenant: openBatchesOfTenant(sql),
  },
  webhooks: {
    webhooks: webhooksDue(sql),
    due: dueDeliveries(sql),
    prunable: prunableDeliveries(sql),
    failingSince: failingSince(sql),
    removed: webhooksRemoved(sql),
    idsOf: webhookIdsOfTenant(sql),
  },
  accounts: {
    abandonedBefore: abandonedWorkBefore(sql),
    expiredHolds: expiredHolds(sql),
    openClaimsBefore: openClaimsBefore(sql),
    openTransfersBefore: openTransfersBefore(sql),
    unrecordedBefore: unrecordedWorkBefore(sql),
    openOperationsOf: openOperationsOfTenant(sql),
  },
  documents: {
    anyErased: anyErased(sql),
    erasedAmong: async (names) => new Set(await erasedAmong(sql)(names)),
    heldBy: async (upTo) => (await heldByTenant(sql)(upTo)).filter(({ kind }) => TAKEN.has(kind)),
    awaitedOf: async (ids) => new Set(await awaitedDocuments(sql)(ids)),
    workOn: workOnDocument(sql),
  },
});
