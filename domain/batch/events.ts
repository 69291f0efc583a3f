import { z } from 'zod';
import { event } from '../kernel/event.ts';
import { creditsFromZero, instant, pages, tenantId } from '../kernel/units.ts';

/** Documents of one batch. */
export const BATCH_DOCUMENTS_MAX = 1_000;

const count = z.number().int().min(0);
const index = count.max(BATCH_DOCUMENTS_MAX - 1);

const named = { batch_id: z.string(), tenant_id: tenantId };

/**
 * Uploaded documents are to be worked on alike. Each is an operation of its own, whose ID follows from the batch's
 * and from its place in the list. What is to be done lies in object storage under `input_sha256`, without keys.
 */
const batchAccepted = event('BatchAccepted', {
  ...named,
  project_id: z.string(),
  task_id: z.string(),
  kind: z.literal('extract'),
  /** In the order of the request. */
  document_ids: z.array(z.string()).min(1).max(BATCH_DOCUMENTS_MAX),
  input_sha256: z.string(),
  /** Digest of the request: the same identity with another one is refused. */
  fingerprint: z.string(),
  api_key_id: z.string(),
  api_key_role: z.enum(['tenant', 'service', 'admin']),
  correlation_id: z.string(),
  accepted_at: instant,
  /** From then on no document is begun. */
  expires_at: instant,
});

/** `count` documents from `first` on are put in the queue by whoever wrote this; a while later, by anyone. */
const batchDocumentsBegun = event('BatchDocumentsBegun', {
  ...named,
  first: index,
  count: count.min(1),
  begun_at: instant,
});

/** Begun documents of which no operation came. A refusal counts only as long as there is none. */
const batchDocumentsRefused = event('BatchDocumentsRefused', {
  ...named,
  /** A code of the interface, or `expired` or `cancelled`. Its sentence may tell of the document: it is stored. */
  refused: z.array(z.object({ index, code: z.string() })).min(1),
  refused_at: instant,
});

/** No document is begun any more. Without an acceptance before it: its request died, and it is closed. */
const batchCancelled = event('BatchCancelled', { ...named, cancelled_at: instant });

/** Every document has its outcome, and all that was delivered is paid for. */
const batchEnded = event('BatchEnded', {
  ...named,
  succeeded: count,
  partial: count,
  failed: count,
  cancelled: count,
  /** Of the documents that succeeded, in whole or in part. */
  pages,
  credits_charged: creditsFromZero,
  ended_at: instant,
});

export const batchEvent = z.discriminatedUnion('type', [
  batchAccepted,
  batchDocumentsBegun,
  batchDocumentsRefused,
  batchCancelled,
  batchEnded,
]);
export type BatchEvent = z.output<typeof batchEvent>;
export type BatchEventOf<Type extends BatchEvent['type']> = Extract<BatchEvent, { type: Type }>;

export const batchStream = (batchId: string): string => `batch-${batchId}`;
