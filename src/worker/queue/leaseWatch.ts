import { LEASE_MIN_MS } from './leaseTimes.ts';

/** A lease as a read model tells it: `mark` changes with each claim and renewal. */
export interface SeenLease {
  readonly id: string;
  readonly mark: string;
}

/** A lease that did not change while it was watched, and for how long that was, ms. */
export interface WatchedLease {
  readonly mark: string;
  readonly forMs: number;
}

/** Watches the leases of others by this process's own monotonic clock: other machines' clocks decide nothing. */
export interface LeaseWatch {
  /** Takes note of all leases that are held now. */
  readonly see: (leases: readonly SeenLease[]) => void;
  /** Those that have stood still for as long as the shortest lease. */
  readonly overdue: () => readonly string[];
  /** undefined for one that is not watched. */
  readonly watched: (id: string) => WatchedLease | undefined;
}

export const leaseWatch = (monotonicMs: () => number): LeaseWatch => {
  let seen = new Map<string, { readonly mark: string; readonly since: number }>();
  const forMs = (since: number): number => monotonicMs() - since;
  return {
    see: (leases) => {
      const since = monotonicMs();
      const next: typeof seen = new Map();
      for (const { id, mark } of leases) {
        const before = seen.get(id);
        next.set(id, before?.mark === mark ? before : { mark, since });
      }
      seen = next;
    },
    overdue: () => [...seen].filter(([, { since }]) => forMs(since) >= LEASE_MIN_MS).map(([id]) => id),
    watched: (id) => {
      const one = seen.get(id);
      return one && { mark: one.mark, forMs: forMs(one.since) };
    },
  };
};
