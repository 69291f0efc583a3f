import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type { Timers } from '../../projections/engine/ports.ts';

/** The process's own timers. A sleep keeps the process alive only as long as something waits for it. */
export const systemTimers: Timers = {
  nowMs: () => performance.now(),
  sleep: async (ms, signal) => {
    if (ms === 0) return nextTurn();
    try {
      await wait(ms, undefined, signal === undefined ? {} : { signal });
    } catch (error) {
      if (signal?.aborted !== true) throw error;
    }
  },
};
