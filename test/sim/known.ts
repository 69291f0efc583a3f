import type { AccountEventOf } from '../../domain/account/messages.ts';
import type { BatchEventOf } from '../../domain/batch.ts';
import type { OperationEventOf } from '../../domain/operation.ts';
import type { TrainingJobEventOf } from '../../domain/trainingJob.ts';

export type Accepted = OperationEventOf<'OperationAccepted'>['data'];
export type Created = TrainingJobEventOf<'TrainingJobCreated'>['data'];
export type Held = AccountEventOf<'CreditsHeld'>['data'];

/** Work that waits, as its events tell it. */
export interface Work {
  readonly id: string;
  readonly work_id: string;
  readonly hold_id: string | null;
  readonly accepted: Accepted | null;
  readonly job: Created | null;
  success: OperationEventOf<'OperationSucceeded'>['data'] | null;
  ended: 'succeeded' | 'failed' | 'cancelled' | null;
  /** Until when its lease is good, by the one monotonic clock, ms. */
  leaseUntil: number;
  /** Of whoever works on it, or worked on it last. */
  leaseId: string;
  starts: number;
  burns: number;
  credits: number;
  /** The result when it was billed. */
  billed: string | undefined;
  /** When it was billed, virtual ms. */
  billedAt: number;
}

/** A document that is read in ranges, as the last event tells it. */
export interface SeenRanges {
  readonly done: ReadonlySet<number>;
  /** By the lease: what its reader has, and until when it is good by the one monotonic clock, ms. */
  readonly readers: ReadonlyMap<
    string,
    { readonly ranges: readonly number[]; readonly turns: number; readonly until: number }
  >;
}

/** A batch, as its events tell it. */
export interface Batch {
  readonly accepted: BatchEventOf<'BatchAccepted'>['data'];
  ended: BatchEventOf<'BatchEnded'>['data'] | null;
}

/** A review, as its events tell it. */
export interface SeenReview {
  expired: boolean;
  /** '': nobody. */
  heldBy: string;
  heldUntil: string;
  /** Digests of decisions by their generation; '' where it was rejected. */
  readonly decided: Map<number, string>;
}

/** What is known of a log before its first event. */
export const started = () => ({
  works: new Map<string, Work>(),
  byWork: new Map<string, Work>(),
  holds: new Map<string, Held>(),
  /** By the operation. */
  ranges: new Map<string, SeenRanges>(),
  usage: new Map<string, string[]>(),
  batches: new Map<string, Batch>(),
  batchOf: new Map<string, Batch>(),
  reviews: new Map<string, SeenReview>(),
  cancelled: new Set<string>(),
  /** When the period of the budget ends that refused a tenant last, by the tenant; null: it never ends. */
  budgetResets: new Map<string, string | null>(),
  /** Runs that were scored, by their batch. */
  scored: new Set<string>(),
  webhooks: 0,
  /** Burns by the key of the call that they are for. */
  burnsOfCalls: new Map<string, Set<string>>(),
  firstBurns: new Map<string, number>(),
  /** Results of calls as they were kept when they were paid for, by the work, and until when they were, virtual ms. */
  paidResults: new Map<string, { readonly key: string; readonly text: string; until: number }>(),
  adjusted: new Set<string>(),
  /** Days that results and deliveries are kept, as they were set for the tenant: the last, and the fewest. */
  days: { last: Infinity, fewest: Infinity },
  /** Documents. */
  registered: new Set<string>(),
  erased: new Set<string>(),
  /** Those of work and batches that were accepted before their tenant was erased. */
  toErase: new Set<string>(),
  tenantErasedAt: '',
  /** Fingerprints of what was booked, by the payment. */
  booked: new Map<string, string>(),
  /** When a request was first accepted, by what it asks for. */
  accepted: new Map<string, number>(),
  /** What an auditor has to tell too. */
  toTell: new Set<string>(),
});
