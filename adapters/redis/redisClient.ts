import { Redis } from 'ioredis';

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
