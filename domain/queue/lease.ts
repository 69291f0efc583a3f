/** Starts that count: a worker that is shut down in order gives its start back. */
export const ATTEMPTS_MAX = 3;
/** Renewals of one lease, so that a stream stays short whatever a worker does. */
export const RENEWALS_MAX = 100;

/** Who works on a piece of work of the queue, or worked on it last. */
export interface Lease {
  readonly lease_id: string;
  readonly lease_until: string;
  readonly worker: string;
  /** False once its owner gave it up: until `lease_until` nobody may start. */
  readonly held: boolean;
  readonly renewals: number;
}

/** What of a piece of work says whether it may be started. */
export interface Leased {
  readonly lease: Lease | null;
  /** Starts so far, and those of them that a shutdown gave back. */
  readonly attempts: number;
  readonly spared: number;
}

export const isOver = (instant: string, now: string): boolean => Date.parse(instant) <= Date.parse(now);

export const isExhausted = ({ attempts, spared }: Leased): boolean => attempts - spared >= ATTEMPTS_MAX;

/** Somebody works on it, or nobody may start it yet. */
export const isLeased = ({ lease }: Leased, now: string): boolean =>
  lease !== null && !isOver(lease.lease_until, now);

/** Why nobody may start it now; undefined: it may be claimed. */
export const startRefusal = (
  work: Leased,
  { expires_at, now }: { readonly expires_at: string; readonly now: string },
): 'lease_held' | 'attempts_exhausted' | undefined => {
  if (isOver(expires_at, now)) return 'attempts_exhausted';
  if (isLeased(work, now)) return 'lease_held';
  return isExhausted(work) ? 'attempts_exhausted' : undefined;
};

/** Why it has to be ended by somebody who does not own it; `lease_held`: it need not. */
export const reapReason = (
  work: Leased,
  { expires_at, now }: { readonly expires_at: string; readonly now: string },
): 'expired' | 'worker_lost' | 'lease_held' => {
  if (isOver(expires_at, now)) return 'expired';
  return isLeased(work, now) || !isExhausted(work) ? 'lease_held' : 'worker_lost';
};

/** Whether a lease is the one that is held now. */
export const owns = ({ lease }: Leased, lease_id: string): boolean =>
  lease?.held === true && lease.lease_id === lease_id;

/** A lease after its owner renewed it, or gave it up. */
export const renewed = (
  lease: Lease | null,
  { lease_until, gave_up }: { readonly lease_until: string; readonly gave_up: string | null },
): Lease | null =>
  lease === null ? null : { ...lease, lease_until, held: gave_up === null, renewals: lease.renewals + 1 };
