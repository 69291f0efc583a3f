import type { Redis } from 'ioredis';
import { memoryRateLimiter } from '../../adapters/local/local.ts';
import { redisRateLimiter } from '../../adapters/redis.ts';
import type { Bucket, RateLimiter } from '../../domain/ports/services.ts';
import type { Scheduler } from './scheduler.ts';

/** What those that rush share: three at once, and one each two seconds. */
export const RUSH: Bucket = { rate_per_second: 0.5, burst: 3 };

/** No command waits longer for Redis, ms. */
const COMMAND_MS = 100;

/** What the script of the limiter does, on a clock in ms: when the bucket of each key is full again. */
const take = (full: Map<string, number>, now: number, [key = '', ...args]: readonly string[]) => {
  const [points = 0, , burst = 0, seconds = 0] = args.map(Number);
  const token = (seconds * 1_000) / burst;
  const next = Math.max(full.get(key) ?? now, now) + token * points;
  const wait = next - burst * token - now;
  if (wait > 0.001) return [burst + 1, Math.ceil(wait)];
  full.set(key, next);
  return [Math.ceil((next - now) / token - 0.0001), Math.ceil(next - now)];
};

const late = (): Promise<never> =>
  new Promise((_, reject) => void setTimeout(() => reject(new Error('Command timed out')), COMMAND_MS));

/** The limiter of one process, over a Redis that all share. */
export const limiterOf = (
  full: Map<string, number>,
  { call, nowMs }: Scheduler,
  onOutage: () => void,
): RateLimiter => {
  const asked = (command: readonly string[]) =>
    call({
      label: `redis ${command[0] ?? ''}`,
      effect: () => take(full, nowMs(), command),
      failed: (reason) => {
        throw new Error(`redis: ${reason}`);
      },
      never: ['slow'],
    });
  const client = {
    status: 'ready',
    defineCommand: () => undefined,
    rlflxIncr: (command: readonly string[]) => Promise.race([asked(command), late()]),
    disconnect: () => undefined,
  };
  return redisRateLimiter({
    client: client as unknown as Redis,
    fallback: memoryRateLimiter(nowMs),
    nowMs,
    onOutage,
  });
};
