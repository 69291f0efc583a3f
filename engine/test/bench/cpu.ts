import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

/** The kernel's account of one process. */
export interface ProcessTimes {
  readonly pid: number;
  readonly parent: number;
  /** Its own CPU time, and that of its children which ended and which it waited for. */
  readonly cpuMs: number;
}

/** `/proc` counts in hundredths of a second, on every machine that Linux runs on. */
const MS_A_TICK = 10;

/** Of the text of `/proc/<pid>/stat`. The name of the program may hold anything, brackets too. */
export const processTimes = (stat: string): ProcessTimes => {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at] ?? 0), 0);
  return { pid: Number.parseInt(stat, 10), parent: Number(fields[1]), cpuMs: ticks * MS_A_TICK };
};

/** A process may end while it is looked at: it is left out then. */
export const ifThere = <T>(look: () => T): readonly T[] => {
  try {
    return [look()];
  } catch {
    return [];
  }
};

/** Those of `all` that are roots or were started, however indirectly, by one. */
export const treesOf = (roots: readonly number[], all: readonly ProcessTimes[]): readonly ProcessTimes[] => {
  const children = new Map<number, ProcessTimes[]>(all.map(({ pid }) => [pid, []]));
  for (const each of all) children.get(each.parent)?.push(each);
  const waiting = all.filter(({ pid }) => roots.includes(pid));
  const found = new Map<number, ProcessTimes>();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (found.has(next.pid)) continue;
    found.set(next.pid, next);
    waiting.push(...(children.get(next.pid) ?? []));
  }
  return [...found.values()];
};

/** The processes that run now of these and all that they started. Linux only. */
export const runningTrees = (roots: readonly number[]): readonly ProcessTimes[] => {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => ifThere(() => processTimes(readFileSync(`/proc/${name}/stat`, 'utf8'))));
  return treesOf(roots, all);
};

/** CPU milliseconds that processes, and all that they started, have taken so far. */
export const cpuMsOf = (roots: readonly number[]): number =>
  runningTrees(roots).reduce((sum, { cpuMs }) => sum + cpuMs, 0);

/** CPU milliseconds that processes, and all that they started, take from now on, as of each call. */
export const cpuSince = (roots: readonly number[]): (() => number) => {
  const before = cpuMsOf(roots);
  return () => cpuMsOf(roots) - before;
};

const LOOK_EVERY_MS = 250;
/** Of one core. A service that only waits takes less. */
const AT_REST = 0.1;
const PATIENCE_MS = 30_000;

/** Waits until the processes have done what their last answers left to do, such as read models. */
export const untilAtRest = async (roots: readonly number[]): Promise<void> => {
  for (let waited = 0; waited < PATIENCE_MS; waited += LOOK_EVERY_MS) {
    const spent = cpuSince(roots);
    await wait(LOOK_EVERY_MS);
    if (spent() < LOOK_EVERY_MS * AT_REST) return;
  }
};
