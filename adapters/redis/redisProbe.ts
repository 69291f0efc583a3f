import { redisClient } from './redisClient.ts';

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
