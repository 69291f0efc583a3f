import { LRUCache } from 'lru-cache';

/** Failures of work that would fail again, by name, for a while. */
export interface RecentFailures<Failure> {
  readonly find: (name: string) => Failure | undefined;
  readonly note: (name: string, failure: Failure) => void;
  /** What it was about has changed. */
  readonly forget: (name: string) => void;
}

const KEEP_MS = 60_000;
const ENTRIES_MAX = 10_000;

/** Remembers each for a minute; evicts the least used beyond ten thousand. */
export const recentFailures = <Failure>(nowMs: () => number): RecentFailures<Failure> => {
  const failures = new LRUCache<string, { readonly failure: Failure; readonly untilMs: number }>({
    max: ENTRIES_MAX,
  });
  return {
    find: (name) => {
      const found = failures.get(name);
      if (found === undefined || found.untilMs > nowMs()) return found?.failure;
      failures.delete(name);
      return undefined;
    },
    note: (name, failure) => {
      failures.set(name, { failure, untilMs: nowMs() + KEEP_MS });
    },
    forget: (name) => {
      failures.delete(name);
    },
  };
};
