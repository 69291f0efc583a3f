import type { Witness } from '../eventLog/witness.ts';

/** What an `Idempotency-Key` belongs to. */
export interface ReplayScope {
  readonly tenant_id: string;
  readonly endpoint: string;
  readonly idempotency_key: string;
}

/** The right to run a request, held by one process until `expires_at_ms` unless renewed. */
export interface ReplayLease {
  readonly scope: ReplayScope;
  /** Unique to the run, so that one that lost its lease cannot complete another's. */
  readonly owner: string;
  /** `AnsweredLog.losses` when it began. */
  readonly losses: number;
}

/**
 * `started`: run it. `in_progress`: somebody runs it. `reused`: the key belongs to another request.
 * `replay`: it was answered already, with this.
 */
export type ReplayBegin =
  | { readonly kind: 'started'; readonly lease: ReplayLease }
  | { readonly kind: 'in_progress' }
  | { readonly kind: 'reused' }
  | { readonly kind: 'replay'; readonly status: number; readonly body: string };

export interface ReplayAnswer {
  readonly status: number;
  readonly body: string;
  readonly keepMs: number;
}

/** The log that answers stand on. */
export interface AnsweredLog {
  /** How much of what this process knew was found to be lost. */
  readonly losses: () => number;
  /** A log that has these has all that this process has read and written; none: it has done neither. */
  readonly known: () => readonly Witness[];
  /** Throws LogUnavailable. */
  readonly has: (event: Witness) => Promise<boolean>;
}

/**
 * Answers kept for idempotent retries. Each stands on the furthest events that its process knew when the request
 * ended: what the request wrote or read lies no further. Where the log lacks one of them, it is another one or was
 * put back to an older copy; the answer is none any more, and the next request runs. The loss of the store costs a
 * replay and never money. Every method throws when it or the log cannot be reached.
 */
export interface ReplayStore {
  begin(scope: ReplayScope, fingerprint: string, leaseMs: number): Promise<ReplayBegin>;
  /** False when the lease was lost. */
  renew(lease: ReplayLease, leaseMs: number): Promise<boolean>;
  /** False when the lease was lost, or something of the log: then nothing is kept. */
  complete(lease: ReplayLease, answer: ReplayAnswer): Promise<boolean>;
  /** Frees the key: the request ended in an answer that is not kept. */
  abandon(lease: ReplayLease): Promise<void>;
  /** Removes what has expired; gives how much. */
  purge(): Promise<number>;
}
