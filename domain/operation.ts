import { z } from 'zod';
import { billingType, extractionMode, mayWait, ratedOperation } from './account/messages.ts';
import { event } from './kernel/decider.ts';
import { instant, tenantId } from './kernel/amounts.ts';
import { neededReview } from './review.ts';
import { tagged } from './kernel/tags.ts';
import type { WorkPrefix } from './workEvents.ts';
import { digestText, type QueuedKind, type QueuedState, queuedWork, suffixOf } from './leased.ts';

/** What work an operation does, by its name in prices. */
const operationKind = ratedOperation;

const pages = z.number().int().min(1);

/**
 * Work on a document was asked for and waits: the stream is its place in the queue. The request and the file lie
 * in object storage under `input_sha256`; no content, no key and no password is ever in the log.
 */
const operationAccepted = event('OperationAccepted', {
  operation_id: z.string(),
  tenant_id: tenantId,
  project_id: z.string(),
  task_id: z.string(),
  kind: operationKind,
  /** The work that it is: what its burn names. */
  work_id: z.string(),
  document_id: z.string(),
  mode: extractionMode,
  billing_type: billingType,
  ...mayWait,
  pages,
  /** All pages are free ones of the tenant. */
  free: z.boolean(),
  input_sha256: z.string(),
  /** Of the file; left out by older releases. */
  file_sha256: z.string().optional(),
  /** Of a file that came with the request, and lies in storage until the end; left out for uploads. */
  file_bytes: z.number().int().min(0).optional(),
  /** Digest of the request: the same identity with another one is refused. */
  fingerprint: z.string(),
  /** null for keys that are not billed. */
  hold_id: z.string().nullable(),
  api_key_id: z.string(),
  api_key_role: z.enum(['tenant', 'service', 'admin']),
  correlation_id: z.string(),
  accepted_at: instant,
  /** When it is given up, whatever has become of it. */
  expires_at: instant,
  ...tagged,
});

/** A worker claimed the operation: it is its owner until the lease is lost. */
const operationStarted = event('OperationStarted', {
  operation_id: z.string(),
  tenant_id: tenantId,
  lease_id: z.string(),
  lease_until: instant,
  worker: z.string(),
  /** From 1. */
  attempt: z.number().int().min(1),
  started_at: instant,
});

/**
 * The owner lives: its lease is longer now. With `gave_up` it stopped before the end, and the operation waits
 * from `lease_until` on for another attempt.
 */
const operationProgressed = event('OperationProgressed', {
  operation_id: z.string(),
  tenant_id: tenantId,
  lease_id: z.string(),
  lease_until: instant,
  pages_done: z.number().int().min(0),
  gave_up: z.enum(['failed', 'shutdown']).nullable(),
  progressed_at: instant,
});

/** The work is done and its result stored. All that settles it is here: a settlement that is late is only late. */
const operationSucceeded = event('OperationSucceeded', {
  operation_id: z.string(),
  tenant_id: tenantId,
  lease_id: z.string(),
  outcome: z.enum(['success', 'partial']),
  /** By the calls that were made; its hold may differ from the one that was placed first. */
  billing_type: billingType,
  hold_id: z.string().nullable(),
  usage_id: z.string(),
  duration_ms: z.number().int().min(0),
  /** Of the stored result that is delivered and paid for; left out by older releases. */
  result_sha256: z.string().optional(),
  /** A person has to look at it; left out where nobody has to. */
  review: neededReview.optional(),
  /** The batch that the parts of a stack become; left out where none does, or a person has to decide first. */
  then_batch_id: z.string().optional(),
  succeeded_at: instant,
  ...tagged,
});

const operationFailed = event('OperationFailed', {
  operation_id: z.string(),
  tenant_id: tenantId,
  /** A code of the interface, or `worker_lost`, `expired`. Its sentence may tell of the document: it is stored. */
  code: z.string(),
  failed_at: instant,
  ...tagged,
});

const operationCancelled = event('OperationCancelled', {
  operation_id: z.string(),
  tenant_id: tenantId,
  cancelled_at: instant,
  /** It never was in the queue: its request died, and its identity is closed permanently. */
  abandoned: z.literal(true).optional(),
  ...tagged,
});

export const operationEvent = z.discriminatedUnion('type', [
  operationAccepted,
  operationStarted,
  operationProgressed,
  operationSucceeded,
  operationFailed,
  operationCancelled,
]);
type OperationEvent = z.output<typeof operationEvent>;
export type OperationEventOf<Type extends OperationEvent['type']> = Extract<OperationEvent, { type: Type }>;

export const operationStream = (operationId: string): string => `operation-${operationId}`;

/** The identity that a caller gave a request. `generation` counts reuses after the time of replays. */
interface OperationIdentity {
  readonly tenant_id: string;
  /** The kind of work, by its name in URLs: whichever route a request takes, it is the same operation. */
  readonly endpoint: string;
  readonly idempotency_key: string;
  readonly generation: number;
}

/** The same request always names the same operation, so whatever died between two steps is found again. */
export const operationIdFor = ({
  tenant_id,
  endpoint,
  idempotency_key,
  generation,
}: OperationIdentity): string =>
  `op_${digestText(['operation', tenant_id, endpoint, idempotency_key, String(generation)].join('\u001f'))}`;

export const usageIdOfOperation = (operationId: string): string => `use_${suffixOf(operationId)}`;
/** The document, where it came with the request. */
export const documentIdOfOperation = (operationId: string): string => `doc_${suffixOf(operationId)}`;
/** The work that it is. */
export const workIdOfOperation = (operationId: string, prefix: WorkPrefix): string =>
  `${prefix}_${suffixOf(operationId)}`;
/** Of logs of older releases: the hold that took the first one's place where an own key was never used. */
export const fullHoldIdOfOperation = (operationId: string): string => `hold_${operationId}_full`;

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
