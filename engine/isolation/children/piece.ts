import type { KeptFile } from '../../ports/keptFile.ts';
import type { JobFile, JobOutcome } from '../jobs.ts';
import type { Child, JobLimits } from './childProcess.ts';
import type { UsedChild } from './idleChildren.ts';
import type { Keeping } from './keptChildren.ts';

/** Limits of a job, and whose it is. */
export interface PoolLimits extends JobLimits {
  /** Whose work it is: processes are given out by it. */
  readonly share: string;
  /** As in `ParseRequest`. */
  readonly kept?: KeptFile | undefined;
}

/** The file that the request of a piece of work keeps open. */
export interface FileOfPiece {
  readonly kept: KeptFile;
  /** undefined where the piece itself needs no file. */
  readonly path: string | undefined;
}

/** A job from its arrival to its end: it waits, runs, and may be paused and run again. */
export interface Piece {
  readonly share: string;
  readonly file: FileOfPiece | undefined;
  readonly limits: JobLimits;
  /** The child that does it; undefined before it began. */
  readonly used: () => UsedChild | undefined;
  /** What its child kept open when it began. */
  readonly keeping: () => Keeping | undefined;
  readonly begin: (given: GivenChild) => Promise<JobOutcome>;
  readonly pause: () => void;
  readonly resume: () => void;
  /** How long it has run since it got its seat, ms. */
  readonly sliceMs: () => number;
  /** CPU time since the last call, ms; time by the clock where that cannot be told. */
  readonly usedMs: () => number;
  /** What `usedMs` has told of, ms. */
  readonly toldMs: () => number;
}

/** A child for a piece of work. */
export interface GivenChild {
  readonly used: UsedChild;
  /** The file of the piece's request, where the child keeps it open. */
  readonly keeping: Keeping | undefined;
}

const fileOf = (job: unknown, kept: KeptFile | undefined): FileOfPiece | undefined => {
  const { file } = job as { readonly file?: Pick<JobFile, 'path'> };
  return kept && { kept, path: file?.path };
};

export function pieceOf(job: unknown, { share, kept, ...limits }: PoolLimits): Piece {
  let used: UsedChild | undefined;
  let keeping: Keeping | undefined;
  let seatedAt = 0;
  let told = { atMs: 0, cpuMs: 0 };
  let toldMs = 0;
  const childOf = (): Child | undefined => used?.child;
  return {
    share,
    file: fileOf(job, kept),
    limits,
    used: () => used,
    keeping: () => keeping,
    begin: ({ used: { child, jobs }, keeping: given }) => {
      used = { child, jobs: jobs + 1 };
      keeping = given;
      seatedAt = performance.now();
      told = { atMs: seatedAt, cpuMs: child.cpuMs() ?? 0 };
      return child.run(job, { ...limits, isKept: keeping !== undefined });
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
      toldMs += Math.max(0, since);
      return Math.max(0, since);
    },
    toldMs: () => toldMs,
  };
}
