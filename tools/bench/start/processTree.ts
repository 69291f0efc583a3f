import { readFileSync } from 'node:fs';
import { ifThere, runningTrees, type ProcessTimes } from '../../../engine/test/bench/cpu.ts';

/** What one process takes, by the kernel's account. */
export interface ProcessMemory {
  readonly pid: number;
  readonly command: string;
  readonly rssMb: number;
  /** Its own memory, and its share of what it shares. */
  readonly pssMb: number;
  readonly cpuSeconds: number;
}

const kilobytes = (text: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);

const memoryOf = ({ pid, cpuMs }: ProcessTimes): ProcessMemory => {
  const parts = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim();
  const [rssMb, pssMb] = [kilobytes(parts, 'Rss') / 1024, kilobytes(parts, 'Pss') / 1024];
  return { pid, command, rssMb, pssMb, cpuSeconds: cpuMs / 1000 };
};

/** A process and all that it started and that still run. Linux only. */
export const processTree = (root: number): readonly ProcessMemory[] =>
  runningTrees([root]).flatMap((times) => ifThere(() => memoryOf(times)));
