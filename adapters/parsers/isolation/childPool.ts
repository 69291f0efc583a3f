import { startChild, type Child, type ChildOptions, type JobLimits } from './childProcess.ts';
import type { JobOutcome } from '../jobs.ts';

export interface PoolOptions extends ChildOptions {
  /** Jobs at the same time. */
  readonly processes: number;
  /** A child that had nothing to do for so long ends. */
  readonly idleMs: number;
}

export interface ChildPool {
  run(job: unknown, limits: JobLimits): Promise<JobOutcome>;
  /** Ends the children; what runs or waits becomes `aborted`. */
  close(): Promise<void>;
}

/** A child is replaced after so many jobs, so that what native code leaks cannot add up. */
const JOBS_PER_CHILD = 200;

interface Waiting {
  readonly start: () => void;
  readonly abort: () => void;
}

/**
 * Children are started when a job needs one and end when idle: at rest there are none. Jobs wait in
 * order for a free one. A child that was killed or died is replaced by the next job; its neighbours
 * do not notice.
 */
export function openChildPool(options: PoolOptions): ChildPool {
  const idle: IdleChild[] = [];
  const busy = new Set<Child>();
  const waiting: Waiting[] = [];
  let slots = options.processes;
  let closed = false;
  const isClosed = (): boolean => closed;

  const take = (): { child: Child; jobs: number } => {
    for (let rest = idle.pop(); rest !== undefined; rest = idle.pop()) {
      clearTimeout(rest.timer);
      if (rest.child.alive()) return rest;
    }
    return { child: startChild(options), jobs: 0 };
  };
  const giveBack = (child: Child, jobs: number): void => {
    busy.delete(child);
    if (!child.alive() || closed || jobs >= JOBS_PER_CHILD) child.kill();
    else idle.push(restingChild({ child, jobs, idle, idleMs: options.idleMs }));
  };
  /** The slot goes straight to the next in line, so that no newcomer can take it in between. */
  const freeSlot = (): void => {
    const next = waiting.shift();
    if (next === undefined) slots += 1;
    else next.start();
  };
  const runNow = async (job: unknown, limits: JobLimits): Promise<JobOutcome> => {
    if (closed) return { kind: 'aborted' };
    const { child, jobs } = take();
    busy.add(child);
    const outcome = await child.run(job, limits);
    giveBack(child, jobs + 1);
    return outcome;
  };
  return {
    run: async (job, limits) => {
      if (closed || limits.signal?.aborted === true) return { kind: 'aborted' };
      if (slots > 0) slots -= 1;
      else if ((await turnIn(waiting, limits.signal)) === 'aborted') return { kind: 'aborted' };
      try {
        const outcome = await runNow(job, limits);
        return isClosed() && outcome.kind === 'died' ? { kind: 'aborted' } : outcome;
      } finally {
        freeSlot();
      }
    },
    close: async () => {
      closed = true;
      for (const { abort } of waiting.splice(0)) abort();
      const children = [...busy, ...idle.splice(0).map(({ child }) => child)];
      for (const child of children) child.kill();
      await Promise.all(children.map(({ exited }) => exited));
    },
  };
}

interface IdleChild {
  readonly child: Child;
  readonly jobs: number;
  readonly timer: NodeJS.Timeout;
}

function restingChild({
  child,
  jobs,
  idle,
  idleMs,
}: Pick<IdleChild, 'child' | 'jobs'> & { idle: IdleChild[]; idleMs: number }): IdleChild {
  const timer = setTimeout(() => {
    idle.splice(idle.indexOf(resting), 1);
    child.kill();
  }, idleMs);
  timer.unref();
  const resting = { child, jobs, timer };
  return resting;
}

/** Waits in line until a child is free, or the caller gives up. */
function turnIn(waiting: Waiting[], signal: AbortSignal | undefined): Promise<'turn' | 'aborted'> {
  return new Promise((resolve) => {
    const leave = (): void => {
      waiting.splice(waiting.indexOf(place), 1);
      resolve('aborted');
    };
    const place: Waiting = {
      start: () => {
        signal?.removeEventListener('abort', leave);
        resolve('turn');
      },
      abort: () => {
        signal?.removeEventListener('abort', leave);
        resolve('aborted');
      },
    };
    waiting.push(place);
    signal?.addEventListener('abort', leave, { once: true });
  });
}
