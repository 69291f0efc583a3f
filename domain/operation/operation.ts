import { queuedWork, type QueuedKind, type QueuedState } from '../queue/queuedWork.ts';
import type { OperationEvent, OperationEventOf } from './events.ts';

export type AcceptedOperation = OperationEventOf<'OperationAccepted'>['data'];

export interface OperationWork {
  readonly event: OperationEvent;
  readonly identity: { readonly operation_id: string; readonly tenant_id: string };
  readonly accepted: AcceptedOperation;
  readonly success: OperationEventOf<'OperationSucceeded'>['data'];
  readonly reached: { readonly pages_done: number };
}
export type OperationKind = QueuedKind<OperationWork>;
export type OperationState = QueuedState<OperationWork>;

/** Operations: extractions and conversions that wait. */
export const operation = queuedWork<OperationWork>({
  words: {
    accepted: 'OperationAccepted',
    started: 'OperationStarted',
    progressed: 'OperationProgressed',
    succeeded: 'OperationSucceeded',
    failed: 'OperationFailed',
    cancelled: 'OperationCancelled',
  },
  identityOf: ({ operation_id, tenant_id }) => ({ operation_id, tenant_id }),
  begins: () => ({ pages_done: 0 }),
  ends: ({ pages }) => ({ pages_done: pages }),
  reachedIn: ({ pages_done }) => ({ pages_done }),
});
