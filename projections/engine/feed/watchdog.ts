import type { Timers } from '../ports.ts';

interface Watched {
  readonly timers: Timers;
  readonly everyMs: number;
  /** How many items the subscription has delivered. */
  readonly arrived: () => number;
  readonly isBusy: () => boolean;
  /** The lowest checkpoint: null for the log's start, undefined when nothing runs. */
  readonly reached: () => bigint | null | undefined;
  readonly head: () => Promise<bigint | undefined>;
}

const isBehind = async ({ head, reached }: Watched): Promise<boolean> => {
  const [end, at] = [await head().catch(() => undefined), reached()];
  return end !== undefined && at !== undefined && (at === null || at < end);
};

/**
 * Aborts `dropped` when nothing has arrived between two looks although the log's head is further:
 * silence alone may mean that there is nothing to deliver. Ends when `dropped` is aborted.
 */
export const abortWhenSilent = async (dropped: AbortController, watched: Watched): Promise<void> => {
  const { timers, everyMs, arrived, isBusy } = watched;
  let suspectAt: number | undefined;
  while (!dropped.signal.aborted) {
    const before = arrived();
    await timers.sleep(everyMs, dropped.signal);
    const isQuiet = arrived() === before && !isBusy();
    const isSuspect = isQuiet && (await isBehind(watched));
    if (isSuspect && suspectAt === before) dropped.abort();
    suspectAt = isSuspect ? before : undefined;
  }
};
