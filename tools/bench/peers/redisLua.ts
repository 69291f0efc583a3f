import { Redis } from 'ioredis';
import { until } from '../../../engine/test/support/until.ts';
import { seededRandom } from '../../../engine/test/support/random.ts';
import type { Run } from '../../../engine/test/bench/measure.ts';
import { START_CREDITS, timedBurns, type Contestant, type Load } from '../contestant.ts';
import { redisProcess } from '../databaseProcesses.ts';

/** Balance, keys and ledger of one tenant; the key and the credits. 1: burned. */
const BURN = `
if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1 then return 0 end
if tonumber(redis.call('GET', KEYS[1])) < tonumber(ARGV[2]) then return -1 end
local left = redis.call('DECRBY', KEYS[1], ARGV[2])
redis.call('HSET', KEYS[2], ARGV[1], left)
redis.call('XADD', KEYS[3], '*', 'key', ARGV[1], 'credits', -ARGV[2], 'balance', left)
return 1`;

const SETTINGS = { appendfsync: 'always', appendonly: 'yes' } as const;

/** Every answer waits for the disk while `work` runs; the server's own settings come back afterwards. */
const durably = async <T>(redis: Redis, work: () => Promise<T>): Promise<T> => {
  const before: [string, string][] = [];
  for (const [name, value] of Object.entries(SETTINGS)) {
    const [, earlier] = (await redis.config('GET', name)) as [string, string];
    before.unshift([name, earlier]);
    await redis.config('SET', name, value);
  }
  const ready = /aof_rewrite_in_progress:0[\s\S]*aof_rewrite_scheduled:0/;
  await until(async () => ready.test(await redis.info('persistence')));
  try {
    return await work();
  } finally {
    for (const [name, value] of before) await redis.config('SET', name, value);
  }
};

const verify = async (redis: Redis, { tenants }: Load, done: number): Promise<void> => {
  let [burned, keys, rows] = [0, 0, 0];
  for (let n = 0; n < tenants; n += 1) {
    burned += START_CREDITS - Number(await redis.get(`balance:t${n}`));
    keys += await redis.hlen(`keys:t${n}`);
    rows += await redis.xlen(`ledger:t${n}`);
  }
  if (burned !== done || keys !== done || rows !== done)
    throw new Error(`the books of Redis do not balance: ${JSON.stringify({ burned, keys, rows, done })}`);
};

const run = async (url: string, load: Load): Promise<Run> => {
  const redis = new Redis(url);
  try {
    return await durably(redis, async () => {
      await redis.flushdb();
      for (let n = 0; n < load.tenants; n += 1) await redis.set(`balance:t${n}`, START_CREDITS);
      const script = String(await redis.script('LOAD', BURN));
      const random = seededRandom(load.seed);
      const once = async (caller: number, turn: number) => {
        const tenant = `t${random.between(0, load.tenants - 1)}`;
        const names = [`balance:${tenant}`, `keys:${tenant}`, `ledger:${tenant}`];
        const burned = await redis.evalsha(script, names.length, ...names, `k${caller}-${turn}`, 1);
        if (burned !== 1) throw new Error(`Redis: ${String(burned)}`);
      };
      const result = await timedBurns(load, { once, server: redisProcess(await redis.info('server')) });
      await verify(redis, load, result.done);
      await redis.flushdb();
      return result;
    });
  } finally {
    redis.disconnect();
  }
};

/** A script on Redis, which answers when its file is on the disk. The Redis is emptied. */
export const redisLua = (url: string): Contestant => ({
  name: 'Redis, Lua, appendfsync always',
  run: (load) => run(url, load),
});
