import { LRUCache } from 'lru-cache';
import type { Bucket, BucketClass } from '../../../domain/ports/services.ts';

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

  /** Nothing where the bucket lacks less than a token. */
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
