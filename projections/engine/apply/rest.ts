import type { FeedQueue } from '../feed/feedQueue.ts';
import type { RunnerTuning } from '../feed/notices.ts';
import type { Timers } from '../ports.ts';

/**
 * The rests of a projector. A batch costs much the same at any size, and what it costs is lacking to those
 * who write meanwhile: so it rests after each one, and the next is larger. Whoever waits ends a rest.
 */
export interface Rests {
  /** Begins a rest after a batch that took so long; it counts from now. */
  readonly begin: (workMs: number) => void;
  /** Waits for something to take, and for the rest to end, or until `signal` aborts. */
  readonly end: (queue: FeedQueue, signal: AbortSignal) => Promise<void>;
  /** Told how many items wait. */
  readonly onArrived: (waiting: number) => void;
  readonly wake: () => void;
}

export interface RestDeps {
  readonly timers: Timers;
  readonly tuning: Pick<RunnerTuning, 'restPerWork' | 'restMaxMs'>;
  readonly isAwaited: () => boolean;
}

/** A batch of so many is not made larger by waiting. */
const ENOUGH_EVENTS = 500;

/** Callbacks and no race of promises: whoever never wakes it would keep every rest that ever was. */
export const newRests = ({ timers, tuning, isAwaited }: RestDeps): Rests => {
  let until = 0;
  let wake: (() => void) | undefined;

  const sleep = async (ms: number, signal: AbortSignal): Promise<void> => {
    if (signal.aborted) return;
    const woken = new AbortController();
    const end = () => woken.abort();
    wake = end;
    signal.addEventListener('abort', end, { once: true });
    await timers.sleep(ms, woken.signal);
    signal.removeEventListener('abort', end);
    wake = undefined;
  };

  return {
    wake: () => wake?.(),
    onArrived: (waiting) => {
      if (waiting >= ENOUGH_EVENTS) wake?.();
    },
    begin: (workMs) => {
      until = timers.nowMs() + Math.min(tuning.restMaxMs, workMs * tuning.restPerWork);
    },
    end: async (queue, signal) => {
      await queue.filled();
      const leftMs = until - timers.nowMs();
      const isFew = queue.length() > 0 && queue.length() < ENOUGH_EVENTS;
      if (leftMs > 0 && isFew && !isAwaited()) await sleep(leftMs, signal);
    },
  };
};
