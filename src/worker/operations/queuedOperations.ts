import { operationEnded, type OperationState } from '../../../domain/operation/decider.ts';
import type { OperationEventOf } from '../../../domain/operation/events.ts';
import type { OperationName, Operations } from '../../commands/operations/operations.ts';
import type { HeldLease, Renewing } from '../queue/heartbeat.ts';
import type { QueuedWork } from '../queue/queuedWork.ts';

/** An operation that this worker owns. */
export type HeldOperation = HeldLease<OperationEventOf<'OperationAccepted'>['data']>;

/** Operations as a queue has them. */
export const queuedOperations = (operations: Operations): QueuedWork<OperationName, OperationState> => ({
  idOf: ({ operation_id }) => operation_id,
  stateOf: operations.stateOf,
  hasEnded: operationEnded,
  start: (name, data, meta) => operations.handle(name, { type: 'StartOperation', data, meta }),
  reap: (name, meta) => operations.handle(name, { type: 'ReapOperation', meta }),
});

/** How the lease of an operation is renewed: with the pages that are done. */
export const renewing = (
  operations: Operations,
  { name }: HeldOperation,
  pagesDone: () => number,
): Renewing<OperationState> => ({
  reached: () => ({ done: pagesDone(), of: name.pages }),
  renew: (lease, { done: pages_done }, meta) =>
    operations.handle(name, { type: 'ProgressOperation', data: { ...lease, pages_done }, meta }),
});
