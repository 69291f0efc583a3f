import { resolve } from 'node:path';
import { BroadcastChannel } from 'node:worker_threads';

/** How the thread that writes a log tells the other threads of its process of each commit. */
export const commitChannel = (path: string): BroadcastChannel => {
  const channel = new BroadcastChannel(`quire commits ${resolve(path)}`);
  // Who only listens keeps no process alive.
  channel.unref();
  return channel;
};

export type WakeUps = ReturnType<typeof wakeUps>;

/**
 * Wakes the subscriptions that wait at the end of the log. `pollMs` is for a reader whose writer is another
 * process; without it nothing wakes but `all`.
 */
export const wakeUps = (pollMs: number | undefined) => {
  const sleepers = new Set<() => void>();
  let count = 0;

  /** Resolves at the next `all` after `seen`, when `signal` aborts, or after the poll interval. */
  const next = (seen: number, signal: AbortSignal | undefined): Promise<void> => {
    if (count !== seen || signal?.aborted === true) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        sleepers.delete(wake);
        clearTimeout(timer);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const timer = pollMs === undefined ? undefined : setTimeout(wake, pollMs);
      sleepers.add(wake);
      signal?.addEventListener('abort', wake, { once: true });
    });
  };

  return {
    /** How often `all` was called: read it before looking at the log, hand it to `next`. */
    count: () => count,
    all: (): void => {
      count += 1;
      for (const wake of [...sleepers]) wake();
    },
    next,
  };
};
