import { LRUCache } from 'lru-cache';
import type { RateLimitOverride } from '../../../domain/rateLimits.ts';
import { type Buckets, DEFAULT_BUCKETS } from '../middleware/limits.ts';

/**
 * A tenant's own limits as the read models have them; null: the defaults. Throws when it cannot tell, also
 * when they do not have yet what this process has written.
 */
type OverrideLookup = (tenantId: string) => Promise<RateLimitOverride | null>;

/** Of what is noted for reads: a change of a tenant's limits, apart from all else that is written for it. */
export const limitsScope = (tenantId: string): string => `limits of ${tenantId}`;

interface TenantLimitsDeps {
  readonly lookup: OverrideLookup;
  readonly nowMs: () => number;
  readonly onError: (error: unknown) => void;
}

/** What limits hold for whom. Answers are cached in this process for 60 s. */
export interface TenantLimits {
  /** Never fails: while it cannot be looked up, what was known last holds, or the defaults do. */
  bucketsOf(tenantId: string): Promise<Buckets>;
  /** What was just decided here holds here at once; others see it when their entry has aged. */
  put(tenantId: string, override: RateLimitOverride | null): void;
  /** Forgets all; gives how many there were. */
  flush(): number;
}

const TTL_MS = 60_000;
/** Limits in use are looked up again when so much of that has gone, while those that are known still hold. */
const REFRESH_MS = TTL_MS / 2;
/** After a look-up that failed. */
const RETRY_MS = 1_000;
/** Requests wait no longer for a database that does not answer. */
const LOOKUP_MS = 1_500;
const ENTRIES_MAX = 10_000;

interface Entry {
  buckets: Buckets;
  staleAt: number;
  /** When to look them up again ahead of that. */
  refreshAt: number;
  /** A look-up under way; those who come meanwhile share it. */
  refresh: Promise<void> | undefined;
}

const entryOf = (buckets: Buckets, now: number): Entry => ({
  buckets,
  staleAt: now + TTL_MS,
  refreshAt: now + REFRESH_MS,
  refresh: undefined,
});

const inTime = async <T>(work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the look-up takes too long')), LOOKUP_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};

/** The limits in force: the override's where it has one. */
export const bucketsUnder = (override: RateLimitOverride | null): Buckets => ({
  heavy: override?.heavy ?? DEFAULT_BUCKETS.heavy,
  general: override?.general ?? DEFAULT_BUCKETS.general,
});

export const tenantLimits = ({ lookup, nowMs, onError }: TenantLimitsDeps): TenantLimits => {
  const entries = new LRUCache<string, Entry>({ max: ENTRIES_MAX });

  const remember = (tenantId: string, entry: Entry): Entry => {
    entries.set(tenantId, entry);
    return entry;
  };

  const refresh = async (tenantId: string, entry: Entry): Promise<void> => {
    try {
      entry.buckets = bucketsUnder(await inTime(lookup(tenantId)));
      entry.staleAt = nowMs() + TTL_MS;
      entry.refreshAt = nowMs() + REFRESH_MS;
    } catch (error) {
      onError(error);
      entry.refreshAt = nowMs() + RETRY_MS;
      entry.staleAt = Math.max(entry.staleAt, entry.refreshAt);
    } finally {
      entry.refresh = undefined;
    }
  };

  return {
    bucketsOf: async (tenantId) => {
      const entry = entries.get(tenantId) ?? remember(tenantId, entryOf(DEFAULT_BUCKETS, -Infinity));
      if (entry.refreshAt <= nowMs()) entry.refresh ??= refresh(tenantId, entry);
      if (entry.staleAt <= nowMs()) await entry.refresh;
      return entry.buckets;
    },
    put: (tenantId, override) => {
      remember(tenantId, entryOf(bucketsUnder(override), nowMs()));
    },
    flush: () => {
      const flushed = entries.size;
      entries.clear();
      return flushed;
    },
  };
};
