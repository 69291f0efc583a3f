import type { Child } from './childProcess.ts';
import type { KeptFile } from '../../ports/documentParser.ts';

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

/** A child that keeps a file open, and for what. */
export interface Keeping {
  readonly used: UsedChild;
  /** Whose file it is; another share never gets this child as long as the file is open. */
  readonly share: string;
  readonly path: string;
  /** CPU time that opening it took, ms; 0 once it was read. */
  readonly openedMs: number;
}

/** Children that have a request's file open, and wait for the request's next job. */
export interface KeptChildren {
  /** Until it is taken, gives way, was kept long enough, or the request closes its file. */
  readonly keep: (file: KeptFile, keeping: Keeping) => void;
  readonly has: (file: KeptFile) => boolean;
  /** The child that has the file open, if it is still there and the same share asks for the same path, or for none. */
  readonly take: (
    file: KeptFile,
    wanted: { readonly share: string; readonly path: string | undefined },
  ) => Keeping | undefined;
  /**
   * A child for the job of somebody else, which puts its file away; undefined where none is kept, or where
   * `canStart` and what was opened in vain this way has come to cost as much as another child.
   */
  readonly giveWay: (canStart: boolean) => UsedChild | undefined;
  readonly count: () => number;
  /** Takes all that are left. */
  readonly takeAll: () => readonly UsedChild[];
}

interface KeptOptions {
  /** A file that was not asked for again after so long is put away. */
  readonly keptMs: number;
  /** Told of a child that keeps nothing any more. */
  readonly giveBack: (used: UsedChild) => void;
}

/** CPU time of a child's start, ms (ADR 29). */
const START_MS = 1_000;

/** A kept child holds no seat and blocks nobody: it gives way to any job that has no other. */
export function keptChildren({ keptMs, giveBack }: KeptOptions): KeptChildren {
  const kept = new Map<KeptFile, Keeping & { readonly drop: () => void; readonly timer: NodeJS.Timeout }>();
  let lostMs = 0;
  const remove = (file: KeptFile): Keeping | undefined => {
    const one = kept.get(file);
    if (one === undefined) return undefined;
    kept.delete(file);
    clearTimeout(one.timer);
    file.closed.removeEventListener('abort', one.drop);
    return one;
  };
  const drop = (file: KeptFile): void => {
    const one = remove(file);
    if (one === undefined) return;
    one.used.child.putAway();
    giveBack(one.used);
  };
  return {
    keep: (file, keeping) => {
      drop(file);
      const dropIt = (): void => drop(file);
      const timer = setTimeout(dropIt, keptMs).unref();
      kept.set(file, { ...keeping, timer, drop: dropIt });
      if (file.closed.aborted) dropIt();
      else file.closed.addEventListener('abort', dropIt, { once: true });
    },
    has: (file) => kept.has(file),
    take: (file, { share, path }) => {
      const one = kept.get(file);
      if (one?.share !== share || (path !== undefined && one.path !== path)) return undefined;
      remove(file);
      return one.used.child.alive() ? one : undefined;
    },
    giveWay: (canStart) => {
      for (let file = leastMissed(kept); file !== undefined; file = leastMissed(kept)) {
        if (canStart && lostMs >= START_MS) {
          lostMs = 0;
          return undefined;
        }
        const one = remove(file);
        if (one?.used.child.alive() !== true) continue;
        lostMs += one.openedMs;
        return one.used;
      }
      return undefined;
    },
    count: () => kept.size,
    takeAll: () => [...kept.keys()].flatMap((file) => remove(file)?.used ?? []),
  };
}

/** Of the share that keeps most, the file that cost least to open. */
function leastMissed(kept: ReadonlyMap<KeptFile, Keeping>): KeptFile | undefined {
  const byShare = new Map<string, number>();
  for (const { share } of kept.values()) byShare.set(share, (byShare.get(share) ?? 0) + 1);
  const keptBy = ({ share }: Keeping): number => byShare.get(share) ?? 0;
  const [first] = [...kept].sort(([, a], [, b]) => keptBy(b) - keptBy(a) || a.openedMs - b.openedMs);
  return first?.[0];
}
