import { z } from 'zod';
import { billingType, extractionMode } from '../account/words.ts';
import { event } from '../kernel/event.ts';
import { instant, tenantId } from '../kernel/units.ts';

/** What work an operation does, by its name in prices. */
export const operationKind = z.enum(['extract', 'to_markdown']);

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
  /** The extraction or conversion that it is: what its burn names. */
  work_id: z.string(),
  document_id: z.string(),
  mode: extractionMode,
  billing_type: billingType,
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
  succeeded_at: instant,
});

const operationFailed = event('OperationFailed', {
  operation_id: z.string(),
  tenant_id: tenantId,
  /** A code of the interface, or `worker_lost`, `expired`. Its sentence may tell of the document: it is stored. */
  code: z.string(),
  failed_at: instant,
});

const operationCancelled = event('OperationCancelled', {
  operation_id: z.string(),
  tenant_id: tenantId,
  cancelled_at: instant,
  /** It never was in the queue: its request died, and its identity is closed for good. */
  abandoned: z.literal(true).optional(),
});

export const operationEvent = z.discriminatedUnion('type', [
  operationAccepted,
  operationStarted,
  operationProgressed,
  operationSucceeded,
  operationFailed,
  operationCancelled,
]);
export type OperationEvent = z.output<typeof operationEvent>;
export type OperationEventOf<Type extends OperationEvent['type']> = Extract<OperationEvent, { type: Type }>;

export const operationStream = (operationId: string): string => `operation-${operationId}`;
