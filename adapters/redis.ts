import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { Redis } from 'ioredis';
import type { Bucket, RateDecision, RateLimiter } from '../domain/ports/services.ts';

interface BreakerOptions {
  readonly failuresMax: number;
  readonly cooldownMs: number;
  readonly nowMs: () => number;
}

/**
 * Spares callers the wait for a part that is down: opens after `failuresMax` failures in a row, and tries again
 * every `cooldownMs`.
 */
export const circuitBreaker = ({ failuresMax, cooldownMs, nowMs }: BreakerOptions) => {
  let failures = 0;
  let tryAgainAt = 0;
  return {
    /** True: try it. While open, one caller a cooldown gets true, to find out whether it is back. */
    mayTry: (): boolean => {
      if (failures < failuresMax) return true;
      const now = nowMs();
      if (now < tryAgainAt) return false;
      tryAgainAt = now + cooldownMs;
      return true;
    },
    succeeded: (): void => {
      failures = 0;
    },
    failed: (): void => {
      failures += 1;
      tryAgainAt = nowMs() + cooldownMs;
    },
  };
};

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

/**
 * A connection that fails fast: nothing is queued while it is down, nothing is sent twice, and no
 * command waits longer than `commandTimeoutMs`. It reconnects by itself, at most 2 s apart.
 */
export const redisClient = (url: string, onError: (error: Error) => void, commandTimeoutMs = 100): Redis => {
  const client = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: commandTimeoutMs,
    connectTimeout: 1_000,
    retryStrategy: (attempt) => Math.min(attempt * 100, 2_000),
  });
  client.on('error', onError);
  return client;
};

const CONNECT_MS = 3_000;

/**
 * Connects to Redis, asks it one thing, and hangs up. Throws what the server or the network says. `answerMs`:
 * of one question and its answer.
 */
export const redisProbe = async (
  url: string,
): Promise<{ readonly answerMs: number; readonly version: string }> => {
  let last: Error | undefined;
  const failed: { tell: (error: Error) => void } = { tell: () => undefined };
  const client = redisClient(
    url,
    (error) => {
      last = error;
      failed.tell(error);
    },
    CONNECT_MS,
  );
  try {
    await new Promise<void>((resolve, reject) => {
      failed.tell = reject;
      client.once('ready', () => resolve());
      if (last !== undefined) reject(last);
    });
    const began = performance.now();
    await client.ping();
    const answerMs = performance.now() - began;
    const about = await client.info('server').catch(() => '');
    return { answerMs, version: /^redis_version:(\S+)/m.exec(about)?.[1] ?? 'of unknown version' };
  } finally {
    client.disconnect();
  }
};
