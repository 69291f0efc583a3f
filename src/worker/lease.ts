/** The shortest lease, and the share of the time worked so far that a later one may have. */
const LEASE_MIN_MS = 60_000;
const LEASE_SHARE = 0.3;

/** A worker stops by itself after so long, ms. */
export const RUN_MS_MAX = 6 * 3_600_000;

/**
 * Milliseconds that a lease is given for: longer for a job that runs longer, so that hours of work are a
 * few dozen events, and a worker that dies early is missed early.
 */
export const leaseMs = (elapsedMs: number): number => Math.max(LEASE_MIN_MS, elapsedMs * LEASE_SHARE);

/** How much further the work must be to be written down before the lease needs it: a tenth. */
const PROGRESS_STEPS = 10;

export interface Standing {
  readonly metric_calls: number;
  readonly max_metric_calls: number;
}

const stepOf = ({ metric_calls, max_metric_calls }: Standing): number =>
  max_metric_calls === 0 ? 0 : Math.floor((PROGRESS_STEPS * metric_calls) / max_metric_calls);

/** Whether a renewal is due: half of the lease is over, or the work is a tenth further. */
export const isRenewalDue = (
  lease: { readonly renewed_at: number; readonly until: number; readonly now: number },
  written: Standing,
  reached: Standing,
): boolean => lease.now >= (lease.renewed_at + lease.until) / 2 || stepOf(reached) > stepOf(written);
