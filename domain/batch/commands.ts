import type { BareCommand, Command } from '../kernel/command.ts';
import type { BatchEventOf } from './events.ts';

export type AcceptBatch = Command<'AcceptBatch', Omit<BatchEventOf<'BatchAccepted'>['data'], 'accepted_at'>>;

/** Claims the next documents of the list, at most `count`. */
export type BeginDocuments = Command<'BeginDocuments', { readonly count: number }>;

export type RefuseDocuments = Command<
  'RefuseDocuments',
  Pick<BatchEventOf<'BatchDocumentsRefused'>['data'], 'refused'>
>;

export type CancelBatch = BareCommand<'CancelBatch'>;

/** Closes the stream of a batch whose request died before it was accepted: nobody accepts it later. */
export type AbandonBatch = Command<'AbandonBatch', { readonly batch_id: string; readonly tenant_id: string }>;

/** What became of the documents; who says so has seen that each has its outcome. */
export type EndBatch = Command<
  'EndBatch',
  Omit<BatchEventOf<'BatchEnded'>['data'], 'batch_id' | 'tenant_id' | 'ended_at'>
>;

export type BatchCommand =
  AcceptBatch | BeginDocuments | RefuseDocuments | CancelBatch | AbandonBatch | EndBatch;

export type BatchRejection =
  | { readonly code: 'batch_not_found' }
  /** It is accepted, so it cannot be abandoned. */
  | { readonly code: 'batch_accepted' }
  | { readonly code: 'idempotency_key_reused' }
  /** It was cancelled, or has ended. */
  | { readonly code: 'batch_finished' }
  /** Every document was begun. */
  | { readonly code: 'all_begun' }
  /** Its documents are more or fewer than those that have an outcome. */
  | { readonly code: 'documents_open' };
