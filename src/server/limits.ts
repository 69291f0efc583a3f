import { isIPv4, isIPv6 } from 'node:net';
import { LRUCache } from 'lru-cache';
import type { Bucket, BucketClass, RateDecision, RateLimiter } from '../../domain/ports/services.ts';
import type { Caller } from './keys.ts';
import { Problem } from './problems.ts';
import type { RateLimitOverride } from '../../domain/rateLimits.ts';
import type { Browser } from './browser.ts';

interface BucketName {
  readonly tenant_id: string;
  readonly bucket: BucketClass;
}

/** A bucket that is not full, with the whole tokens that are in it. */
interface BucketInUse extends BucketName, Bucket {
  readonly remaining: number;
}

/** The rate-limit buckets that requests to this process have taken from. */
export interface BucketsInUse {
  /** A request was decided: the bucket is full again in `resetMs` milliseconds. */
  note(name: BucketName, bucket: Bucket, resetMs: number): void;
  /** Those that lack a token or more, the emptiest first, at most 20. */
  list(): readonly BucketInUse[];
}

const KEPT_MAX = 1_000;
const LISTED_MAX = 20;

interface Kept extends BucketName, Bucket {
  readonly fullAt: number;
}

/** `nowMs` must not run backwards. Buckets that other processes share are known as of this process's last request. */
export const bucketsInUse = (nowMs: () => number): BucketsInUse => {
  const kept = new LRUCache<string, Kept>({ max: KEPT_MAX });

  /** Nothing if the bucket lacks less than a token. */
  const inUse = ({ fullAt, ...bucket }: Kept, now: number): readonly BucketInUse[] => {
    const lacking = ((fullAt - now) * bucket.rate_per_second) / 1_000;
    const remaining = Math.max(0, Math.floor(bucket.burst - lacking));
    return lacking < 1 ? [] : [{ ...bucket, remaining }];
  };

  return {
    note: ({ tenant_id, bucket }, { rate_per_second, burst }, resetMs) => {
      const fullAt = nowMs() + resetMs;
      kept.set(`${bucket}:${tenant_id}`, { tenant_id, bucket, rate_per_second, burst, fullAt });
    },
    list: () => {
      const now = nowMs();
      return [...kept.values()]
        .flatMap((one) => inUse(one, now))
        .sort((a, b) => a.remaining / a.burst - b.remaining / b.burst)
        .slice(0, LISTED_MAX);
    },
  };
};

export type Buckets = Readonly<Record<BucketClass, Bucket>>;

/** The interface's limits, where a tenant has no others. */
export const DEFAULT_BUCKETS: Buckets = {
  heavy: { rate_per_second: 5, burst: 20 },
  general: { rate_per_second: 50, burst: 200 },
};

export interface RateLimits {
  readonly limiter: RateLimiter;
  /** What holds for a tenant; called for each request. */
  readonly bucketsOf: (tenantId: string) => Promise<Buckets>;
  /** Told of each 429. */
  readonly onLimited?: (bucket: BucketClass) => void;
  /** Told of each request that was decided. */
  readonly inUse?: BucketsInUse;
}

const headersOf = ({ burst }: Bucket, { remaining, resetMs }: RateDecision): Record<string, string> => ({
  'RateLimit-Limit': String(burst),
  'RateLimit-Remaining': String(remaining),
  'RateLimit-Reset': String(Math.ceil(resetMs / 1000)),
});

interface Taking {
  readonly name: BucketClass | 'sign_in';
  readonly bucket: Bucket;
  readonly onDecision?: (decision: RateDecision) => void;
}

/** Takes a token. Gives the headers to answer with; throws the 429. */
const takeFrom = async (
  limiter: RateLimiter,
  key: string,
  { name, bucket, onDecision }: Taking,
): Promise<Record<string, string>> => {
  const decision = await limiter.take(key, bucket);
  onDecision?.(decision);
  const headers = headersOf(bucket, decision);
  if (decision.allowed) return headers;
  const rate = `${String(bucket.rate_per_second)} requests a second, ${String(bucket.burst)} at once`;
  throw new Problem('rate_limited', {
    detail: `The rate limit of the ${name} bucket was exceeded: ${rate}.`,
    members: { bucket: name },
    headers: { ...headers, 'Retry-After': String(Math.max(1, Math.ceil(decision.retryAfterMs / 1000))) },
  });
};

/** Takes a token of the caller's tenant. Gives the headers to answer with; throws the 429. */
export const takeToken = async (
  { limiter, bucketsOf, onLimited, inUse }: RateLimits,
  { tenant_id }: Caller,
  name: BucketClass,
): Promise<Record<string, string>> => {
  const bucket = (await bucketsOf(tenant_id))[name];
  const onDecision = ({ resetMs }: RateDecision) => inUse?.note({ tenant_id, bucket: name }, bucket, resetMs);
  try {
    return await takeFrom(limiter, `${name}:${tenant_id}`, { name, bucket, onDecision });
  } catch (error) {
    if (error instanceof Problem) onLimited?.(name);
    throw error;
  }
};

/**
 * A tenant's own limits as the read models have them; null: the defaults. Throws when it cannot tell, also
 * when they do not have yet what this process has written.
 */
type OverrideLookup = (tenantId: string) => Promise<RateLimitOverride | null>;

/** Of what is noted for reads: a change of a tenant's limits, apart from all else that is written for it. */
export const limitsScope = (tenantId: string): string => `limits of ${tenantId}`;

interface TenantLimitsDeps {
  readonly lookup: OverrideLookup;
  /** Must not run backwards. */
  readonly nowMs: () => number;
  readonly onError: (error: unknown) => void;
}

/** What limits hold for whom. Answers are cached in this process for 60 s. */
export interface TenantLimits {
  /** Never fails: while it cannot be looked up, what was known last holds, or the defaults do. */
  bucketsOf(tenantId: string): Promise<Buckets>;
  /** A decision made here holds here at once; other processes see it when their entry has expired. */
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

/** Keys cannot be guessed: this bounds the work that strangers cause here, and at a provider. */
const SIGN_INS = { rate_per_second: 1, burst: 30 };

/** An IPv4 address that is written as one of IPv6, with a port, or both. */
const INNER_IPV4 = /^(?:\[?::ffff:)?(\d+\.\d+\.\d+\.\d+)\]?(?::\d+)?$/i;
const INNER_IPV6 = /^\[?([\da-f:.]+)(?:%[^\]]*)?\]?(?::\d+)?$/i;
const NETWORK_GROUPS = 4;

/** The /64 of an IPv6 address: the owner of one address there has all of them. */
const networkOf = (address: string): string => {
  const [before = '', after] = address.split('::');
  const [head, tail] = [before, after ?? ''].map((half) => half.split(':').filter((group) => group !== ''));
  const gap = after === undefined ? 0 : Math.max(0, 8 - (head?.length ?? 0) - (tail?.length ?? 0));
  const groups = [...(head ?? []), ...Array.from({ length: gap }, () => '0'), ...(tail ?? [])];
  return groups
    .slice(0, NETWORK_GROUPS)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
};

/** Who counts as one client: an address of IPv4, a network of IPv6; all that is neither counts as one. */
export const clientAt = (address: string): string => {
  const ipv4 = INNER_IPV4.exec(address)?.[1] ?? '';
  if (isIPv4(ipv4)) return ipv4;
  const whole = isIPv6(address) ? address.replace(/%.*/, '') : (INNER_IPV6.exec(address)?.[1] ?? '');
  return isIPv6(whole) ? networkOf(whole) : 'unknown';
};

/** How often somebody may try to sign in. Each throws 429 `rate_limited`. */
export interface SignInLimits {
  /** Before anything is looked up, or asked of a provider. */
  byClient(browser: Pick<Browser, 'address'>): Promise<void>;
  /** The same for those who come back from a provider: their sign-in was counted when it began. */
  byReturning(browser: Pick<Browser, 'address'>): Promise<void>;
  /** Once it is known who signs in, by `subject` as events name it. */
  byAccount(subject: string): Promise<void>;
}

export const signInLimits = (limiter: RateLimiter): SignInLimits => {
  const take = async (of: string): Promise<void> => {
    await takeFrom(limiter, `sign_in:${of}`, { name: 'sign_in', bucket: SIGN_INS });
  };
  return {
    byClient: ({ address }) => take(clientAt(address)),
    byReturning: ({ address }) => take(`return:${clientAt(address)}`),
    byAccount: (subject) => take(`account:${subject}`),
  };
};

/** Pages of one tenant that may wait for their turn. */
const WAITING_MAX = 20;
/** Pages in an order of their own leave two thirds of the time to others. */
const REST_SHARE = 2;
const REST_MS_MAX = 2_000;

/** Does one piece of work after the other for all shares. Throws 429 `rate_limited` where too much of a share waits. */
export type Turns = <T>(share: string, work: () => Promise<T>) => Promise<T>;

/**
 * Pages that are sorted, searched or filtered read all rows of a tenant, where a plain page reads its own: in a process
 * one is made at a time, shares take turns, and after each the database has time for all else.
 */
export const widePages = (): Turns => {
  const waiting = new Map<string, (() => void)[]>();
  let isBusy = false;
  const next = (): void => {
    const [first] = waiting;
    isBusy = first !== undefined;
    if (first === undefined) return;
    const [share, [begin, ...others]] = first;
    waiting.delete(share);
    if (others.length > 0) waiting.set(share, others);
    begin?.();
  };
  const turnOf = (share: string): Promise<void> | undefined => {
    if (!isBusy) {
      isBusy = true;
      return undefined;
    }
    const own = waiting.get(share) ?? [];
    if (own.length >= WAITING_MAX)
      throw new Problem('rate_limited', {
        detail:
          `${String(WAITING_MAX)} of your sorted, searched or filtered pages wait for their turn: ` +
          'ask again once they came.',
        members: { bucket: 'general' },
        headers: { 'Retry-After': '1' },
      });
    return new Promise((begin) => waiting.set(share, [...own, begin]));
  };
  return async (share, work) => {
    await turnOf(share);
    const began = performance.now();
    try {
      return await work();
    } finally {
      const restMs = Math.min(REST_MS_MAX, REST_SHARE * (performance.now() - began));
      setTimeout(next, restMs).unref();
    }
  };
};
