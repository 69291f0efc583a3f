import { buildDue } from './build.ts';
import type { BuildDeps } from './build.ts';
import type { ProjectionNotice, RunnerTuning } from '../feed/notices.ts';
import { CheckpointMoved } from '../registry.ts';

export interface BuildingDeps extends BuildDeps {
  readonly tuning: RunnerTuning;
  readonly notify?: (notice: ProjectionNotice) => void;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Ended from outside, or overtaken by another process. */
const isExpected = (error: unknown, signal: AbortSignal): boolean =>
  signal.aborted || error instanceof CheckpointMoved;

/** Builds whatever is due, whether this process projects or not, until `signal` aborts. */
export const building = (deps: BuildingDeps) => {
  const { timers, tuning, notify } = deps;
  let afresh = true;

  const once = async (signal: AbortSignal): Promise<void> => {
    const options = { batchMax: tuning.batchMax, signal, afresh };
    const { promoted, stopped } = await buildDue(deps, options);
    afresh = false;
    for (const { projector } of promoted)
      notify?.({ kind: 'promoted', name: projector.name, version: projector.version });
    for (const { slot, reason } of stopped) notify?.({ kind: 'stopped', name: slot.projector.name, reason });
  };

  return async (signal: AbortSignal): Promise<void> => {
    let delayMs = tuning.lookMs;
    while (!signal.aborted) {
      try {
        await once(signal);
        delayMs = tuning.lookMs;
      } catch (error) {
        if (!isExpected(error, signal)) {
          notify?.({ kind: 'failed', reason: messageOf(error) });
          delayMs = Math.min(delayMs * 2, Math.max(tuning.retryMaxMs, tuning.lookMs));
        }
      }
      await timers.sleep(delayMs, signal);
    }
  };
};
