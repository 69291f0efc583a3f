import type { Bucket, BucketClass, RateDecision, RateLimiter } from '../../../domain/ports/services.ts';
import type { BucketsInUse } from '../access/bucketsInUse.ts';
import type { Caller } from '../access/caller.ts';
import { Problem } from '../problems.ts';

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
export const takeFrom = async (
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
