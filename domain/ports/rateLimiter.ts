/** A token bucket: a full one admits `burst` at once, then refills at `rate_per_second`. */
export interface Bucket {
  readonly rate_per_second: number;
  readonly burst: number;
}

/** A tenant has a bucket for work on documents, and one for all other requests. */
export type BucketClass = 'heavy' | 'general';

/** `remaining` tokens after the call; `resetMs` until the bucket is full; `retryAfterMs` until one token. */
export interface RateDecision {
  readonly allowed: boolean;
  readonly remaining: number;
  readonly resetMs: number;
  readonly retryAfterMs: number;
}

/** Takes one token from the bucket named `key`. It answers always: an outage never refuses a request. */
export interface RateLimiter {
  take(key: string, bucket: Bucket): Promise<RateDecision>;
  close(): Promise<void>;
}
