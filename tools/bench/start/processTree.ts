import { readdirSync, readFileSync } from 'node:fs';

/** What one process takes, by the kernel's account. */
export interface ProcessMemory {
  readonly pid: number;
  readonly command: string;
  readonly rssMb: number;
  /** Its own memory, and its share of what it shares. */
  readonly pssMb: number;
  readonly cpuSeconds: number;
}

const TICKS_A_SECOND = 100;

const kilobytes = (text: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);

/** Of `/proc/<pid>/stat`: the parent's id, and the CPU time of the process and of its children that ended. */
const statOf = (pid: number) => {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at] ?? 0), 0);
  return { parent: Number(fields[1]), cpuSeconds: ticks / TICKS_A_SECOND };
};

const memoryOf = (pid: number): ProcessMemory => {
  const parts = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim();
  const [rssMb, pssMb] = [kilobytes(parts, 'Rss') / 1024, kilobytes(parts, 'Pss') / 1024];
  return { pid, command, rssMb, pssMb, cpuSeconds: statOf(pid).cpuSeconds };
};

/** A process may end while it is looked at: it is left out then. */
const ifThere = <T>(look: () => T): readonly T[] => {
  try {
    return [look()];
  } catch {
    return [];
  }
};

/** A process and all that it started and that still run. Linux only. */
export const processTree = (root: number): readonly ProcessMemory[] => {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => ifThere(() => ({ pid: Number(name), ...statOf(Number(name)) })));
  const found = new Set([root]);
  for (let before = 0; before < found.size;) {
    before = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  return [...found].flatMap((pid) => ifThere(() => memoryOf(pid)));
};
