import type { Clock } from '../../domain/ports/clock.ts';
import { hasEnded } from '../../domain/trainingJob/decider.ts';
import type { Progress, TrainingJobEventOf } from '../../domain/trainingJob/events.ts';
import type { TrainingJobs } from '../commands/training/trainingJobs.ts';
import { systemMeta } from '../commands/writer/commandMeta.ts';
import { isRenewalDue, leaseMs, RUN_MS_MAX } from './lease.ts';

export interface LeaseDeps {
  readonly jobs: TrainingJobs;
  readonly clock: Clock;
  /** How often an owner looks whether it still owns its job, ms. */
  readonly tickMs: number;
}

/** Why an owner has to stop. */
export type StopReason = 'lost' | 'shutdown' | 'timed_out';

/** A job that this worker owns. */
export interface HeldLease {
  readonly job: TrainingJobEventOf<'TrainingJobCreated'>['data'];
  readonly lease_id: string;
  readonly attempt: number;
  readonly started_at: string;
}

interface Heartbeat {
  /** Its reason is a `StopReason`. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
  readonly reached: () => Progress;
  readonly stop: () => Promise<void>;
}

const count = (n: number): number => (Number.isFinite(n) ? Math.max(0, Math.trunc(n)) : 0);

/** Keeps the lease while the work goes on; aborts when it was lost, or the work takes too long. */
export const heartbeat = (deps: LeaseDeps, held: HeldLease, shutdown: AbortSignal): Heartbeat => {
  const { job, lease_id } = held;
  const started = Date.parse(held.started_at);
  const stopping = new AbortController();
  let reached: Progress = { metric_calls: 0, max_metric_calls: job.max_metric_calls };
  let written = reached;
  let [renewed_at, until] = [started, started + leaseMs(0)];

  const renew = async (now: number): Promise<void> => {
    const asked = { progress: reached, lease_until: new Date(now + leaseMs(now - started)).toISOString() };
    const outcome = await deps.jobs.handle(job, {
      type: 'ProgressTrainingJob',
      data: { lease_id, ...asked },
      meta: systemMeta(deps, job.job_id),
    });
    if (outcome.kind === 'rejected') stopping.abort('lost' satisfies StopReason);
    if (outcome.kind !== 'done') return;
    written = asked.progress;
    [renewed_at, until] = [now, Date.parse(asked.lease_until)];
  };

  const tick = async (): Promise<void> => {
    const now = Date.parse(deps.clock.now());
    if (now - started > RUN_MS_MAX) stopping.abort('timed_out' satisfies StopReason);
    const state = await deps.jobs.stateOf(job.job_id);
    if (hasEnded(state) || state.lease?.lease_id !== lease_id) stopping.abort('lost' satisfies StopReason);
    else if (isRenewalDue({ renewed_at, until, now }, written, reached)) await renew(now);
  };

  let beating: Promise<void> = Promise.resolve();
  let isBeating = false;
  const timer = setInterval(() => {
    if (isBeating || stopping.signal.aborted) return;
    isBeating = true;
    // A log that is away for a moment is asked again; whether the lease held, the last append decides.
    beating = tick()
      .catch(() => undefined)
      .finally(() => (isBeating = false));
  }, deps.tickMs);
  const onShutdown = () => stopping.abort('shutdown' satisfies StopReason);
  shutdown.addEventListener('abort', onShutdown);
  if (shutdown.aborted) onShutdown();

  return {
    signal: stopping.signal,
    reached: () => reached,
    onProgress: ({ metric_calls, max_metric_calls }) => {
      reached = { metric_calls: count(metric_calls), max_metric_calls: count(max_metric_calls) };
    },
    stop: async () => {
      clearInterval(timer);
      shutdown.removeEventListener('abort', onShutdown);
      await beating;
    },
  };
};
