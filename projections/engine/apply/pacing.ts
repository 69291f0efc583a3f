import type { FeedQueue } from '../feed/feedQueue.ts';
import type { RunnerTuning } from '../feed/notices.ts';
import type { Timers } from '../ports.ts';

/**
 * A pause after each batch. A batch costs much the same at any size, and its time is taken from writers: pausing
 * makes the next batch larger. A caller that waits for a position ends the pause.
 */
export interface Pacing {
  /** Sets the pause after a batch that took `workMs`; it counts from now. */
  readonly afterBatch: (workMs: number) => void;
  /** Waits until the queue has an item and the pause is over, or until `signal` aborts. */
  readonly beforeBatch: (queue: FeedQueue, signal: AbortSignal) => Promise<void>;
  /** Ends the pause when enough items wait. */
  readonly onArrived: (waiting: number) => void;
  /** Ends the pause. */
  readonly wake: () => void;
}

interface PacingDeps {
  readonly timers: Timers;
  readonly tuning: Pick<RunnerTuning, 'pauseFactor' | 'pauseMaxMs'>;
  readonly isAwaited: () => boolean;
}

/** With this many events waiting, a pause gains nothing. */
const ENOUGH_EVENTS = 500;

/** Callbacks and no race of promises: a race against a promise that never settles would keep every pause alive. */
export const batchPacing = ({ timers, tuning, isAwaited }: PacingDeps): Pacing => {
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
    afterBatch: (workMs) => {
      until = timers.nowMs() + Math.min(tuning.pauseMaxMs, workMs * tuning.pauseFactor);
    },
    beforeBatch: async (queue, signal) => {
      await queue.filled();
      const leftMs = until - timers.nowMs();
      const isFew = queue.length() > 0 && queue.length() < ENOUGH_EVENTS;
      if (leftMs > 0 && isFew && !isAwaited()) await sleep(leftMs, signal);
    },
  };
};
