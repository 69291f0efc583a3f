import type { Timers } from './ports.ts';

/** A pause that others may end early. */
export interface Rest {
  /** Sleeps so long, until `wake`, or until `signal` aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly wake: () => void;
}

/** Callbacks and no race of promises: whoever never wakes it would keep every pause that ever was. */
export const newRest = (timers: Timers): Rest => {
  let wake: (() => void) | undefined;
  return {
    wake: () => wake?.(),
    sleep: async (ms, signal) => {
      if (signal.aborted) return;
      const woken = new AbortController();
      const end = () => woken.abort();
      wake = end;
      signal.addEventListener('abort', end, { once: true });
      await timers.sleep(ms, woken.signal);
      signal.removeEventListener('abort', end);
      wake = undefined;
    },
  };
};
