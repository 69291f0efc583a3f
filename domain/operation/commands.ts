import type { BareCommand, Command } from '../kernel/command.ts';
import type { OperationEventOf } from './events.ts';

export type AcceptOperation = Command<
  'AcceptOperation',
  Omit<OperationEventOf<'OperationAccepted'>['data'], 'accepted_at'>
>;

/** Claims an operation that waits, or whose owner let its lease run out. */
export type StartOperation = Command<
  'StartOperation',
  { readonly lease_id: string; readonly lease_until: string; readonly worker: string }
>;

/** Renews the lease, and says how far the work is. */
export type ProgressOperation = Command<
  'ProgressOperation',
  { readonly lease_id: string; readonly lease_until: string; readonly pages_done: number }
>;

/** The owner stops before the end; as for training jobs, a shutdown is no attempt. */
export type GiveUpOperation = Command<
  'GiveUpOperation',
  {
    readonly lease_id: string;
    readonly retry_at: string;
    readonly reason: 'failed' | 'shutdown';
    /** It would come again. */
    readonly lasting: boolean;
    readonly code: string;
  }
>;

export type SucceedOperation = Command<
  'SucceedOperation',
  Omit<OperationEventOf<'OperationSucceeded'>['data'], 'operation_id' | 'tenant_id' | 'succeeded_at'>
>;

/** Ends an operation that nobody will end any more: its time is over, or its last owner is lost. */
export type ReapOperation = BareCommand<'ReapOperation'>;

export type CancelOperation = BareCommand<'CancelOperation'>;

export type OperationCommand =
  | AcceptOperation
  | StartOperation
  | ProgressOperation
  | GiveUpOperation
  | SucceedOperation
  | ReapOperation
  | CancelOperation;

export type OperationRejection =
  | { readonly code: 'operation_not_found' }
  | { readonly code: 'idempotency_key_reused' }
  | { readonly code: 'operation_finished' }
  /** Somebody else owns it, or nobody may start it now. */
  | { readonly code: 'lease_held' }
  /** The lease that a command names is not the operation's: another worker has taken over. */
  | { readonly code: 'lease_lost' }
  /** It was started as often as it may be. */
  | { readonly code: 'attempts_exhausted' };
