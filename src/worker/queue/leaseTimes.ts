import { laterBy } from '../../../domain/kernel/amounts.ts';

/**
 * The shortest lease, and the share of the time worked so far that a later one may have. Who takes work over has to
 * live as long as its lease: workers that die within a minute, by turns, still do.
 */
export const LEASE_MIN_MS = 30_000;
const LEASE_SHARE = 0.3;

/** A worker stops by itself after so long, ms. */
export const RUN_MS_MAX = 6 * 3_600_000;

/**
 * Milliseconds that a lease is given for: longer for work that goes on longer, so that hours of it are a
 * few dozen events, and a worker that dies early is missed early.
 */
export const leaseMs = (elapsedMs: number): number => Math.max(LEASE_MIN_MS, elapsedMs * LEASE_SHARE);

/** How much further the work must be to be written down before the lease needs it: a twentieth. */
const PROGRESS_STEPS = 20;

/** How far work is: pages read, or calls of a metric. */
export interface Standing {
  readonly done: number;
  readonly of: number;
}

const stepOf = ({ done, of }: Standing): number => (of === 0 ? 0 : Math.floor((PROGRESS_STEPS * done) / of));

/** Whether a renewal is due: half of the lease is over, or the work is a step further. */
export const isRenewalDue = (
  lease: { readonly renewed_at: number; readonly until: number; readonly now: number },
  written: Standing,
  reached: Standing,
): boolean => lease.now >= (lease.renewed_at + lease.until) / 2 || stepOf(reached) > stepOf(written);

/** Pause before another attempt, ms, times the attempts so far. */
const RETRY_MS = 10_000;

/** From when on work that was given up may be claimed again: a shutdown costs it no time. */
export const retryAt = (now: string, reason: 'failed' | 'shutdown', attempt: number): string =>
  laterBy(now, reason === 'shutdown' ? 0 : RETRY_MS * attempt);
