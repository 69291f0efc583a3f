import { LogUnavailable } from '../../../domain/ports/eventStore.ts';
import { SqlUnavailable } from '../ports.ts';
import {
  RebuildBusy,
  rebuildReadModels,
  type RebuildDeps,
  type RebuildOptions,
  type RebuildProgress,
  type RebuiltReadModel,
} from './rebuild.ts';

/** After this long without progress a rebuild gives up; the next one goes on from what was built. */
const OUTAGE_MAX_MS = 10 * 60_000;
const FIRST_PAUSE_MS = 250;
const PAUSE_MAX_MS = 5_000;

interface OutageOptions extends RebuildOptions {
  /** Called at each outage, before waiting. */
  readonly onOutage?: (error: Error) => void;
}

/** A broken session's lock can outlive it for a moment: after an outage a busy lock is most likely our own. */
const isOutage = (error: unknown, outages: number): error is Error =>
  error instanceof SqlUnavailable ||
  error instanceof LogUnavailable ||
  (error instanceof RebuildBusy && outages > 0);

/** A rebuild that waits while the event store or the database is unavailable, and then goes on. */
export const rebuildThroughOutages = async (
  deps: RebuildDeps,
  options: OutageOptions = {},
): Promise<readonly RebuiltReadModel[]> => {
  const { timers } = deps;
  let lastSeenMs = timers.nowMs();
  let outages = 0;
  let begun = false;
  const onProgress = (progress: RebuildProgress): void => {
    lastSeenMs = timers.nowMs();
    [outages, begun] = [0, true];
    options.onProgress?.(progress);
  };
  for (;;) {
    try {
      // What this rebuild has begun, it continues.
      const fresh = options.fresh === true && !begun;
      return await rebuildReadModels(deps, { ...options, fresh, onProgress });
    } catch (error) {
      if (!isOutage(error, outages) || timers.nowMs() - lastSeenMs > OUTAGE_MAX_MS) throw error;
      options.signal?.throwIfAborted();
      options.onOutage?.(error);
      await timers.sleep(Math.min(PAUSE_MAX_MS, FIRST_PAUSE_MS * 2 ** outages));
      outages += 1;
    }
  }
};
