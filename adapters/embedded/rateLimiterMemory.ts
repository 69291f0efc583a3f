import type { Bucket, RateDecision, RateLimiter } from '../../domain/ports/rateLimiter.ts';

/** Entries above which full buckets are forgotten: a full bucket and none are the same. */
const ENTRIES_MAX = 20_000;

/**
 * The generic cell rate algorithm: a token bucket kept as one number, the time at which it is full
 * again (`fullAt`). One token moves it by `1000 / rate` ms; it may lie at most `burst` tokens ahead of
 * now. Source: ITU-T I.371, virtual scheduling.
 */
const takeToken = (
  fullAt: number,
  now: number,
  { rate_per_second, burst }: Bucket,
): RateDecision & { readonly fullAt: number } => {
  const tokenMs = 1000 / rate_per_second;
  const from = Math.max(fullAt, now);
  const next = from + tokenMs;
  const retryAfterMs = next - burst * tokenMs - now;
  // A billionth of a token absorbs what division lost; it never adds up, for `from` restarts at now.
  if (retryAfterMs > tokenMs * 1e-9)
    return { allowed: false, remaining: 0, resetMs: from - now, retryAfterMs, fullAt };
  const remaining = Math.floor((burst * tokenMs - (next - now)) / tokenMs + 1e-9);
  return { allowed: true, remaining, resetMs: next - now, retryAfterMs: 0, fullAt: next };
};

/** Buckets of this process. `nowMs` must not run backwards (`performance.now`). */
export const memoryRateLimiter = (nowMs: () => number): RateLimiter => {
  const fullAt = new Map<string, number>();

  const forgetFull = (now: number): void => {
    for (const [key, at] of fullAt) if (at <= now) fullAt.delete(key);
  };

  return {
    take: (key, bucket) => {
      const now = nowMs();
      if (fullAt.size > ENTRIES_MAX) forgetFull(now);
      const { fullAt: next, ...decision } = takeToken(fullAt.get(key) ?? now, now, bucket);
      if (decision.allowed) fullAt.set(key, next);
      return Promise.resolve(decision);
    },
    close: () => Promise.resolve(),
  };
};
