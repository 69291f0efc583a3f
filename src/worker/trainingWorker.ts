import { laterBy } from '../../domain/kernel/instant.ts';
import { closeJob } from '../commands/training/closeTrainingJob.ts';
import { releaseHold } from '../commands/work/holds.ts';
import { systemMeta } from '../commands/writer/commandMeta.ts';
import { reapJob } from './endTrainingJob.ts';
import type { JobName } from '../commands/training/trainingJobs.ts';
import { jobsAtOnce } from './jobsAtOnce.ts';
import { each, repeatedly } from './loops.ts';
import { runTrainingJob, type JobRun, type TrainingWorkDeps } from './runTrainingJob.ts';

/** What read models know of jobs. They may be late: the streams decide. */
export interface JobLists {
  /** Jobs that nobody works on: the one of each tenant that waits longest, then the second of each. */
  readonly waiting: (now: string, limit: number) => Promise<readonly JobName[]>;
  /** Jobs whose time is over and that did not end. */
  readonly expired: (now: string, limit: number) => Promise<readonly JobName[]>;
  /** Jobs that ended and were neither charged nor released. */
  readonly unsettled: (limit: number) => Promise<readonly JobName[]>;
  /** Open holds of training whose job was never created, placed before `before`. */
  readonly orphanHolds: (
    before: string,
    limit: number,
  ) => Promise<readonly (JobName & { readonly hold_id: string })[]>;
}

export interface TrainingWorkerDeps extends TrainingWorkDeps {
  readonly lists: JobLists;
  /** How often the queue is looked at, ms. */
  readonly pollMs?: number;
}

export interface TrainingWorker {
  /** Does the jobs that wait, a few beside each other, until none is left. Gives how many it ran. */
  readonly drain: () => Promise<number>;
  /** Ends what nobody else will end, and settles what was left open. Gives how many things it ended. */
  readonly reap: () => Promise<number>;
  readonly start: () => void;
  /** Gives the running jobs back and waits until they are given. */
  readonly stop: () => Promise<void>;
}

const PAGE = 50;
/** How often what others left is looked for. */
const REAP_MS = 30_000;
/** A hold without a job may still be in its request's hands for so long, ms. */
const ORPHAN_AGE_MS = 10 * 60_000;

/** Nobody created the job: its request died right after the hold, and was never sent again. */
const releaseOrphan = async (
  deps: TrainingWorkerDeps,
  { job_id, tenant_id, hold_id }: JobName & { readonly hold_id: string },
): Promise<boolean> => {
  const state = await deps.jobs.stateOf(job_id);
  if (state.job !== null) return false;
  return releaseHold(deps, { tenant_id, hold_id, reason: 'failed' }, systemMeta(deps, job_id));
};

const reapOnce = async (deps: TrainingWorkerDeps): Promise<number> => {
  const now = deps.clock.now();
  const expired = await deps.lists.expired(now, PAGE);
  const reaped = await each(deps, expired, (job) => reapJob(deps, job));
  const unsettled = await deps.lists.unsettled(PAGE);
  const settled = await each(deps, unsettled, async ({ job_id }) =>
    closeJob(deps, await deps.jobs.stateOf(job_id)),
  );
  const before = laterBy(now, -ORPHAN_AGE_MS);
  const orphans = await deps.lists.orphanHolds(before, PAGE);
  return reaped + settled + (await each(deps, orphans, (hold) => releaseOrphan(deps, hold)));
};

/** What one job throws is told, and leaves the others alone. */
const runQuietly = async (deps: TrainingWorkerDeps, job: JobName, shutdown: AbortSignal): Promise<JobRun> => {
  try {
    return await runTrainingJob(deps, job, shutdown);
  } catch (error) {
    deps.onError(error);
    return 'not_ours';
  }
};

/** Takes jobs from the queue that their streams are. Any number of workers may do so beside each other. */
export const trainingWorker = (deps: TrainingWorkerDeps): TrainingWorker => {
  const { pollMs = 1_000, onError } = deps;
  const shutdown = new AbortController();
  const jobs = jobsAtOnce({
    waiting: () => deps.lists.waiting(deps.clock.now(), PAGE),
    run: (job) => runQuietly(deps, job, shutdown.signal),
    onError,
    shutdown: shutdown.signal,
  });
  const reap = () => reapOnce(deps);
  const loops = [repeatedly(jobs.takeUp, pollMs, onError), repeatedly(reap, REAP_MS, onError)];
  const drain = async () => {
    const before = jobs.ran();
    await jobs.takeUp();
    await jobs.settled();
    return jobs.ran() - before;
  };
  return {
    drain,
    reap,
    start: () => {
      for (const loop of loops) loop.start();
    },
    stop: async () => {
      shutdown.abort();
      await Promise.all(loops.map((loop) => loop.stop()));
      await jobs.settled();
    },
  };
};
