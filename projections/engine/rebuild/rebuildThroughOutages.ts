import { LogUnavailable } from '../../../domain/ports/eventStore.ts';
import { SqlUnavailable } from '../ports.ts';
import {
  RebuildBusy,
  rebuildReadModels,
  type RebuildOptions,
  type RebuildProgress,
  type RebuiltReadModel,
} from './rebuild.ts';
import type { RebuildDeps } from './replay.ts';

/** Without any progress for so long, a rebuild gives up; what was built is kept for the next. */
const OUTAGE_MAX_MS = 10 * 60_000;
const FIRST_PAUSE_MS = 250;
const PAUSE_MAX_MS = 5_000;

export interface OutageOptions extends RebuildOptions {
  /** Told of each outage, before it is waited out. */
  readonly onOutage?: (error: Error) => void;
}

/** The lock of a session that broke can outlive it for a moment: after an outage it is no other rebuild. */
const isOutage = (error: unknown, outages: number): error is Error =>
  error instanceof SqlUnavailable ||
  error instanceof LogUnavailable ||
  (error instanceof RebuildBusy && outages > 0);

/** A rebuild that waits while the event store or the database is away, and goes on from where it stands. */
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
      // What this rebuild has begun is its own to go on with.
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
