import type { BareCommand, Command } from '../kernel/command.ts';
import type { TrainingJobEventOf, Progress } from './events.ts';

export type CreateTrainingJob = Command<
  'CreateTrainingJob',
  Omit<TrainingJobEventOf<'TrainingJobCreated'>['data'], 'created_at'>
>;

/** Claims a job that waits, or whose owner let its lease run out. */
export type StartTrainingJob = Command<
  'StartTrainingJob',
  { readonly lease_id: string; readonly lease_until: string; readonly worker: string }
>;

/** Renews the lease, and says how far the work is. */
export type ProgressTrainingJob = Command<
  'ProgressTrainingJob',
  { readonly lease_id: string; readonly lease_until: string; readonly progress: Progress }
>;

/**
 * The owner stops before the end. After the last attempt, and for an error that would come again, the job
 * has failed; otherwise it waits until `retry_at`. A shutdown does not count as an attempt.
 */
export type GiveUpTrainingJob = Command<
  'GiveUpTrainingJob',
  {
    readonly lease_id: string;
    readonly retry_at: string;
    readonly reason: 'failed' | 'shutdown';
    readonly lasting: boolean;
    readonly code: string;
    readonly detail: string;
  }
>;

export type SucceedTrainingJob = Command<
  'SucceedTrainingJob',
  Omit<TrainingJobEventOf<'TrainingJobSucceeded'>['data'], 'job_id' | 'tenant_id' | 'succeeded_at'>
>;

/** Ends a job that nobody will end any more: its time is over, or its last owner is lost. */
export type ReapTrainingJob = BareCommand<'ReapTrainingJob'>;

export type CancelTrainingJob = BareCommand<'CancelTrainingJob'>;

export type TrainingJobCommand =
  | CreateTrainingJob
  | StartTrainingJob
  | ProgressTrainingJob
  | GiveUpTrainingJob
  | SucceedTrainingJob
  | ReapTrainingJob
  | CancelTrainingJob;

export type TrainingJobRejection =
  | { readonly code: 'job_not_found' }
  | { readonly code: 'idempotency_key_reused' }
  | { readonly code: 'job_finished' }
  /** Somebody else owns the job, or nobody may start it now. */
  | { readonly code: 'lease_held' }
  /** The lease that a command names is not the job's: another worker has taken over. */
  | { readonly code: 'lease_lost' }
  /** It was started as often as it may be. */
  | { readonly code: 'attempts_exhausted' };
