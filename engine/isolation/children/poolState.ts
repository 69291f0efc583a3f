import type { FairShares } from '../../kernel/fairShares.ts';
import type { ChildOptions } from './childProcess.ts';
import type { IdleChildren } from './idleChildren.ts';
import type { JobOutcome } from '../jobs.ts';
import type { KeptChildren } from './keptChildren.ts';
import type { Piece } from './piece.ts';

/** Files that children opened, and keep open. */
export interface Openings {
  /** Since the pool was opened. */
  readonly opened: number;
  /** Jobs that went on with a file that was open, since then. */
  readonly wentOn: number;
  /** Kept open now. */
  readonly kept: number;
}

/** Jobs that gave way to others. */
export interface Pauses {
  /** Paused now. */
  readonly jobs: number;
  /** Time that jobs were paused since the pool was opened, those of now with it, ms. */
  readonly totalMs: number;
}

/** Told of CPU time that a share used, ms. */
export type Charged = (share: string, cpuMs: number) => void;

/** A job, and who is told of its end. */
export interface Entry {
  readonly piece: Piece;
  readonly settle: (outcome: JobOutcome) => void;
}

/** What a pool knows of its children and jobs. */
export interface Pool {
  readonly options: ChildOptions & { readonly processes: number };
  readonly sliceMs: number;
  readonly pausedMax: number;
  readonly idle: IdleChildren;
  readonly kept: KeptChildren;
  /** Jobs without a process, and paused ones. */
  readonly line: FairShares<Entry>;
  readonly waiting: Set<Entry>;
  readonly running: Set<Entry>;
  /** With the time since which they are. */
  readonly paused: Map<Entry, number>;
  /** Time of the pauses that have ended, ms. */
  pausedMs: number;
  readonly charged: Set<Charged>;
  opened: number;
  wentOn: number;
  recheck: NodeJS.Timeout | undefined;
  closed: boolean;
}

export function pausesOf({ paused, pausedMs }: Pool): Pauses {
  const now = performance.now();
  return {
    jobs: paused.size,
    totalMs: [...paused.values()].reduce((ms, since) => ms + now - since, pausedMs),
  };
}

/** False for a job that was not paused. */
export function endPause(pool: Pool, entry: Entry): boolean {
  const since = pool.paused.get(entry);
  if (since === undefined) return false;
  pool.paused.delete(entry);
  pool.pausedMs += performance.now() - since;
  return true;
}

export function charge({ line, charged }: Pool, { piece }: Entry, leastMs = 0): void {
  const usedMs = Math.max(leastMs, piece.usedMs());
  line.charge(piece.share, usedMs, performance.now());
  for (const told of charged) told(piece.share, usedMs);
}

export function chargeRunning(pool: Pool): void {
  for (const entry of pool.running) charge(pool, entry);
}
