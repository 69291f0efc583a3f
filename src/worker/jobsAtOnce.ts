import { heavySlots } from '../commands/work/heavySlots.ts';
import type { JobName } from '../commands/training/trainingJobs.ts';
import type { JobRun } from './runTrainingJob.ts';

/** Jobs that a worker does beside each other; one is kept free for a tenant that has none running. */
const AT_ONCE = 3;

interface JobsAtOnceDeps {
  /** Jobs that nobody works on, in the order in which tenants take turns. May be late. */
  readonly waiting: () => Promise<readonly JobName[]>;
  /** Throws nothing. */
  readonly run: (job: JobName) => Promise<JobRun>;
  readonly onError: (error: unknown) => void;
  readonly shutdown: AbortSignal;
}

interface JobsAtOnce {
  /** Begins what may begin now. What is freed by a job that ends is filled at once. */
  readonly takeUp: () => Promise<void>;
  /** Until nothing runs and nothing may begin. */
  readonly settled: () => Promise<void>;
  /** How many were this worker's. */
  readonly ran: () => number;
}

/**
 * Does jobs of several tenants beside each other: a tenant alone gets all places but one, and another gets a
 * place at once. Their CPU time is shared out by the processes that they learn in.
 */
export const jobsAtOnce = (deps: JobsAtOnceDeps): JobsAtOnce => {
  const slots = heavySlots(AT_ONCE);
  const running = new Map<string, Promise<void>>();
  /** Jobs that were another's: not asked for again before the next look at the queue. */
  const passed = new Set<string>();
  let ran = 0;
  let taking: Promise<void> | undefined;

  const done = async (job: JobName, free: () => void): Promise<void> => {
    const result = await deps.run(job);
    free();
    running.delete(job.job_id);
    if (result === 'not_ours') passed.add(job.job_id);
    else ran += 1;
    void fill().catch(deps.onError);
  };
  const fillOnce = async (): Promise<void> => {
    for (const job of await deps.waiting()) {
      if (deps.shutdown.aborted) return;
      if (running.has(job.job_id) || passed.has(job.job_id)) continue;
      const free = slots.take(job.tenant_id);
      if (free !== undefined) running.set(job.job_id, done(job, free));
    }
  };
  const fill = (): Promise<void> => {
    if (deps.shutdown.aborted) return Promise.resolve();
    return (taking ??= fillOnce().finally(() => (taking = undefined)));
  };
  return {
    takeUp: () => {
      passed.clear();
      return fill();
    },
    settled: async () => {
      for (let begun = taking; running.size > 0 || begun !== undefined; begun = taking) {
        await begun?.catch(() => undefined);
        if (running.size > 0) await Promise.race(running.values());
      }
    },
    ran: () => ran,
  };
};
