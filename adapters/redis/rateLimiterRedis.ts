import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { Redis } from 'ioredis';
import type { Bucket, RateDecision, RateLimiter } from '../../domain/ports/rateLimiter.ts';
import { circuitBreaker } from './circuitBreaker.ts';

/**
 * The library's script hook gets: tokens wanted, seconds (unused), burst, seconds that a whole bucket
 * takes to refill. Instead of its fixed window this is an exact token bucket (GCRA) on the server's
 * clock, in microseconds: the key holds the time at which the bucket is full again. It answers
 * `{consumed, ms}`: consumed above burst is a refusal, ms then the wait for a token, else until full.
 */
const GCRA = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local burst = tonumber(ARGV[3])
local token = tonumber(ARGV[4]) * 1000000 / burst
local full = tonumber(redis.call('GET', KEYS[1]) or now)
if full < now then full = now end
local next = full + token * tonumber(ARGV[1])
local wait = next - burst * token - now
if wait > 1 then return {burst + 1, math.ceil(wait / 1000)} end
local ahead = next - now
redis.call('SET', KEYS[1], string.format('%.0f', next), 'PX', math.ceil(ahead / 1000) + 1000)
return {math.ceil(ahead / token - 0.0001), math.ceil(ahead / 1000)}
`;

export interface RedisRateLimiterDeps {
  readonly client: Redis;
  /** Limits in process while Redis is away. */
  readonly fallback: RateLimiter;
  readonly nowMs: () => number;
  readonly onOutage?: (error: unknown) => void;
}

const FAILURES_MAX = 3;
const COOLDOWN_MS = 1_000;

const refused = (answer: RateLimiterRes, { rate_per_second, burst }: Bucket): RateDecision => ({
  allowed: false,
  remaining: 0,
  resetMs: (burst * 1000) / rate_per_second,
  retryAfterMs: answer.msBeforeNext,
});

const admitted = (answer: RateLimiterRes): RateDecision => ({
  allowed: true,
  remaining: answer.remainingPoints,
  resetMs: answer.msBeforeNext,
  retryAfterMs: 0,
});

/** Buckets shared by all processes of one Redis. It goes on in process when Redis fails. */
export const redisRateLimiter = (deps: RedisRateLimiterDeps): RateLimiter => {
  const { client, fallback, nowMs, onOutage } = deps;
  const limiters = new Map<string, RateLimiterRedis>();
  const breaker = circuitBreaker({ failuresMax: FAILURES_MAX, cooldownMs: COOLDOWN_MS, nowMs });

  const limiterOf = ({ rate_per_second, burst }: Bucket): RateLimiterRedis => {
    const name = `${rate_per_second}/${burst}`;
    const known = limiters.get(name);
    if (known !== undefined) return known;
    const made = new RateLimiterRedis({
      storeClient: client,
      keyPrefix: 'quire:rate',
      points: burst,
      duration: burst / rate_per_second,
      customIncrTtlLuaScript: GCRA,
      rejectIfRedisNotReady: true,
    });
    limiters.set(name, made);
    return made;
  };

  const ask = async (key: string, bucket: Bucket): Promise<RateDecision> => {
    try {
      // Below one second the library would skip the script; the script does not use this figure.
      const answer = await limiterOf(bucket).consume(key, 1, { customDuration: 1 });
      breaker.succeeded();
      return admitted(answer);
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error;
      breaker.succeeded();
      return refused(error, bucket);
    }
  };

  const take = async (key: string, bucket: Bucket): Promise<RateDecision> => {
    if (!breaker.mayTry()) return fallback.take(key, bucket);
    try {
      return await ask(key, bucket);
    } catch (error) {
      breaker.failed();
      onOutage?.(error);
      return fallback.take(key, bucket);
    }
  };

  return {
    take,
    close: async () => {
      client.disconnect();
      await fallback.close();
    },
  };
};
