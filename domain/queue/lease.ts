/** Starts that count: a worker that is shut down in order gives its start back. */
export const ATTEMPTS_MAX = 3;
/** Renewals of one lease, so that a stream stays short whatever a worker does. */
export const RENEWALS_MAX = 100;
/** `expires_at` of a hold that no clock ends: the work that it is for ends it. */
export const NO_END = '9999-12-31T23:59:59.999Z';

/** Who works on a piece of work of the queue, or worked on it last. */
export interface Lease {
  readonly lease_id: string;
  readonly lease_until: string;
  /** How long it is held for, by the owner's clock, ms. */
  readonly lease_ms: number;
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

/** A claim of somebody who is not the owner. */
export interface Taking {
  readonly now: string;
  readonly expires_at: string;
  /** The `leaseMark` that the claimant has watched for the whole time of the lease; null: none. */
  readonly watched: string | null;
}

export const isOver = (instant: string, now: string): boolean => Date.parse(instant) <= Date.parse(now);

export const isExhausted = ({ attempts, spared }: Leased): boolean => attempts - spared >= ATTEMPTS_MAX;

/**
 * What changes with every claim and renewal. A read model tells it too (`attempt`, `ready_at`), so a watcher needs
 * no stream to see whether an owner lives.
 */
export const leaseMark = ({ attempts, lease }: Leased): string => `${attempts}|${lease?.lease_until ?? ''}`;

/**
 * Whether somebody works on it, or nobody may start it yet. A lease ends when a claimant has watched it unchanged
 * for its whole time: the clocks of two machines are never compared. Only a pause before another attempt, which
 * nobody depends on, is told by the clock.
 */
const isTaken = (work: Leased, { now, watched }: Taking): boolean => {
  const { lease } = work;
  if (lease === null) return false;
  return lease.held ? leaseMark(work) !== watched : !isOver(lease.lease_until, now);
};

/** Why nobody may start it now; undefined: it may be claimed. */
export const startRefusal = (
  work: Leased,
  taking: Taking,
): 'lease_held' | 'attempts_exhausted' | undefined => {
  if (isOver(taking.expires_at, taking.now)) return 'attempts_exhausted';
  if (isTaken(work, taking)) return 'lease_held';
  return isExhausted(work) ? 'attempts_exhausted' : undefined;
};

/** Why it has to be ended by somebody who does not own it; `lease_held`: it need not. */
export const reapReason = (work: Leased, taking: Taking): 'expired' | 'worker_lost' | 'lease_held' => {
  if (isOver(taking.expires_at, taking.now)) return 'expired';
  return isTaken(work, taking) || !isExhausted(work) ? 'lease_held' : 'worker_lost';
};

/** Whether a lease is the one that is held now. */
export const owns = ({ lease }: Leased, lease_id: string): boolean =>
  lease?.held === true && lease.lease_id === lease_id;

/** Of the event of a start. */
export interface Claimed {
  readonly lease_id: string;
  readonly lease_until: string;
  readonly worker: string;
  /** From 1. */
  readonly attempt: number;
  readonly started_at: string;
}

/** Of the event of a renewal. */
export interface Renewed {
  readonly lease_id: string;
  readonly lease_until: string;
  readonly gave_up: 'failed' | 'shutdown' | null;
  readonly progressed_at: string;
}

/** A lease after its owner renewed it, or gave it up. */
const renewed = (lease: Lease | null, { lease_until, gave_up, progressed_at }: Renewed): Lease | null =>
  lease === null
    ? null
    : {
        ...lease,
        lease_until,
        lease_ms: msBetween(progressed_at, lease_until),
        held: gave_up === null,
        renewals: lease.renewals + 1,
      };

const msBetween = (from: string, to: string): number => Date.parse(to) - Date.parse(from);

/** The lease of a start. */
export const taken = ({ lease_id, lease_until, worker, started_at }: Claimed): Lease => {
  const lease_ms = msBetween(started_at, lease_until);
  return { lease_id, lease_until, lease_ms, worker, held: true, renewals: 0 };
};

/** How work stands after its owner renewed its lease, or gave it up. */
export const kept = (
  { lease, spared }: Pick<Leased, 'lease' | 'spared'>,
  data: Renewed,
): Pick<Leased, 'lease' | 'spared'> & { readonly status: 'running' | 'queued' } => ({
  status: data.gave_up === null ? 'running' : 'queued',
  spared: spared + (data.gave_up === 'shutdown' ? 1 : 0),
  lease: renewed(lease, data),
});
