import type { Child } from './childProcess.ts';

/** A child, and how many jobs it has done. */
export interface UsedChild {
  readonly child: Child;
  readonly jobs: number;
}

/** Children that wait for their next job. */
export interface IdleChildren {
  readonly take: () => UsedChild | undefined;
  readonly giveBack: (used: UsedChild) => void;
  /** Takes all that are left. */
  readonly takeAll: () => readonly Child[];
}

/**
 * A child is replaced after so many jobs, so that a leak of native code cannot add up. None is known: 1,000
 * invoices took a child from 149 to 153 MB. A replacement costs others a second of a core.
 */
const JOBS_PER_CHILD = 2_000;

/** A child that had nothing to do for `idleMs` ends. */
export function idleChildren(idleMs: number): IdleChildren {
  const resting: (UsedChild & { readonly timer: NodeJS.Timeout })[] = [];
  const rest = (used: UsedChild): void => {
    const timer = setTimeout(() => {
      resting.splice(resting.indexOf(one), 1);
      used.child.kill();
    }, idleMs);
    timer.unref();
    const one = { ...used, timer };
    resting.push(one);
  };
  return {
    take: () => {
      for (let one = resting.pop(); one !== undefined; one = resting.pop()) {
        clearTimeout(one.timer);
        if (one.child.alive()) return one;
      }
      return undefined;
    },
    giveBack: (used) => {
      if (!used.child.alive() || used.jobs >= JOBS_PER_CHILD) used.child.kill();
      else rest(used);
    },
    takeAll: () =>
      resting.splice(0).map(({ child, timer }) => {
        clearTimeout(timer);
        return child;
      }),
  };
}
