// Time itself is meant: Redis counts by its own clock.
// eslint-disable-next-line no-restricted-imports
import { setTimeout as pause } from 'node:timers/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { memoryRateLimiter } from '../../adapters/local/local.ts';
import { redisClient, redisRateLimiter } from '../../adapters/redis.ts';
import { rateLimiterContract } from './rateLimiter.contract.ts';

const { REDIS_URL } = process.env;
const nowMs = () => performance.now();
const HEAVY = { rate_per_second: 5, burst: 20 };
/** Tokens that drip in while something takes so long. */
const dripped = (ms: number): number => Math.ceil((ms / 1_000) * HEAVY.rate_per_second);

/** What a command waits where Redis answers, ms: on a busy machine that takes longer than the service waits. */
const PATIENCE_MS = 10_000;
/** What a command waits where Redis is away, ms. */
const IMPATIENCE_MS = 400;
const CALLS = 40;

const open = async (url: string) => {
  const client = redisClient(url, () => undefined, PATIENCE_MS);
  if (client.status !== 'ready') await new Promise((resolve) => client.once('ready', resolve));
  return redisRateLimiter({ client, fallback: memoryRateLimiter(nowMs), nowMs });
};

if (REDIS_URL !== undefined) {
  rateLimiterContract('Redis', async () => ({
    limiter: await open(REDIS_URL),
    passMs: (ms) => pause(ms),
    drifts: true,
  }));

  describe('rate limiter: Redis shared by processes', () => {
    it('is one bucket for all of them', async () => {
      const limiters = [await open(REDIS_URL), await open(REDIS_URL)];
      const key = `shared:${String(process.pid)}:${String(Date.now())}`;
      const began = nowMs();
      const calls = Array.from({ length: 80 }, (_, n) => limiters[n % 2]!.take(key, HEAVY));
      const admitted = (await Promise.all(calls)).filter(({ allowed }) => allowed).length;
      expect(admitted).to.be.within(20, 20 + dripped(nowMs() - began));
      for (const limiter of limiters) await limiter.close();
    });
  });
}

/** A server that takes connections and never answers: Redis, frozen. */
const silentServer = (): Promise<{ url: string; close: () => void }> =>
  new Promise((resolve) => {
    const sockets = new Set<Socket>();
    const server: Server = createServer((socket) => sockets.add(socket));
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      const close = () => {
        for (const socket of sockets) socket.destroy();
        server.close();
      };
      resolve({ url: `redis://127.0.0.1:${String(port)}`, close });
    });
  });

describe('rate limiter: Redis away', () => {
  const limited = async (url: string) => {
    const outages: unknown[] = [];
    const client = redisClient(url, () => undefined, IMPATIENCE_MS);
    const limiter = redisRateLimiter({
      client,
      fallback: memoryRateLimiter(nowMs),
      nowMs,
      onOutage: (error) => outages.push(error),
    });
    let admitted = 0;
    const began = nowMs();
    for (let n = 0; n < CALLS; n += 1) if ((await limiter.take('k', HEAVY)).allowed) admitted += 1;
    const tookMs = nowMs() - began;
    await limiter.close();
    return { admitted, tookMs, outages: outages.length };
  };

  it('goes on in process when nothing listens', async () => {
    const { admitted, tookMs, outages } = await limited('redis://127.0.0.1:1');
    expect(admitted).to.be.within(20, 20 + dripped(tookMs));
    // Three, and one a second that asks again.
    expect(outages).to.be.within(1, 4 + tookMs / 1_000);
    expect(tookMs).to.be.below((CALLS * IMPATIENCE_MS) / 2);
  });

  it('goes on in process when the server is frozen, and soon without waiting for it', async () => {
    const frozen = await silentServer();
    const { admitted, tookMs } = await limited(frozen.url);
    frozen.close();
    expect(admitted).to.be.within(20, 20 + dripped(tookMs));
    expect(tookMs).to.be.below((CALLS * IMPATIENCE_MS) / 2);
  });
});
