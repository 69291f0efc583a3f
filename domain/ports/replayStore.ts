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

/**
 * Answers kept for idempotent retries. Its loss costs a replay and never money. Every method throws when
 * the store cannot be reached.
 */
export interface ReplayStore {
  begin(scope: ReplayScope, fingerprint: string, leaseMs: number): Promise<ReplayBegin>;
  /** False when the lease was lost. */
  renew(lease: ReplayLease, leaseMs: number): Promise<boolean>;
  complete(lease: ReplayLease, answer: ReplayAnswer): Promise<boolean>;
  /** Frees the key: the request ended in an answer that is not kept. */
  abandon(lease: ReplayLease): Promise<void>;
  /** Removes what has expired; gives how much. */
  purge(): Promise<number>;
}
