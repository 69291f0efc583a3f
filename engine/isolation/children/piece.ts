import type { JobOutcome } from '../jobs.ts';
import type { Child, JobLimits } from './childProcess.ts';
import type { UsedChild } from './idleChildren.ts';

/** Limits of a job, and whose it is. */
export interface PoolLimits extends JobLimits {
  /** Whose work it is: processes are given out by it. */
  readonly share: string;
}

/** A job from its arrival to its end: it waits, runs, and may be paused and run again. */
export interface Piece {
  readonly share: string;
  readonly limits: JobLimits;
  /** The child that does it; undefined before it began. */
  readonly used: () => UsedChild | undefined;
  readonly begin: (used: UsedChild) => Promise<JobOutcome>;
  readonly pause: () => void;
  readonly resume: () => void;
  /** How long it has run since it got its seat, ms. */
  readonly sliceMs: () => number;
  /** CPU time since the last call, ms; time by the clock where that cannot be told. */
  readonly usedMs: () => number;
}

export function pieceOf(job: unknown, { share, ...limits }: PoolLimits): Piece {
  let used: UsedChild | undefined;
  let seatedAt = 0;
  let told = { atMs: 0, cpuMs: 0 };
  const childOf = (): Child | undefined => used?.child;
  return {
    share,
    limits,
    used: () => used,
    begin: (given) => {
      used = { ...given, jobs: given.jobs + 1 };
      seatedAt = performance.now();
      told = { atMs: seatedAt, cpuMs: given.child.cpuMs() ?? 0 };
      return given.child.run(job, limits);
    },
    pause: () => childOf()?.pause(),
    resume: () => {
      seatedAt = performance.now();
      told = { ...told, atMs: seatedAt };
      childOf()?.resume();
    },
    sliceMs: () => performance.now() - seatedAt,
    usedMs: () => {
      const atMs = performance.now();
      const cpuMs = childOf()?.cpuMs();
      const since = cpuMs === undefined ? atMs - told.atMs : cpuMs - told.cpuMs;
      told = { atMs, cpuMs: cpuMs ?? told.cpuMs };
      return Math.max(0, since);
    },
  };
}
