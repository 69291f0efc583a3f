import { readFileSync } from 'node:fs';
import { statOf } from '../../kernel/processLife.ts';

/** Linux counts CPU time for user programs in hundredths of a second, whatever its own clock. */
const TICK_MS = 10;

const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

/** A process and those below it, itself first: a launcher may stand between us and what works. */
export function familyOf(pid: number): number[] {
  const children = textOf(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  return [pid, ...children.flatMap(familyOf)];
}

/** CPU time that one process has used, its ended children included, ms. */
const usedMs = (pid: number): number => {
  // utime, stime, cutime and cstime are fields 14 to 17
  const times = statOf(pid)?.slice(11, 15) ?? [];
  return times.reduce((sum, ticks) => sum + Number(ticks), 0) * TICK_MS;
};

/** CPU time of a process and those below it, ms; undefined where that cannot be told (no /proc, or gone). */
export function cpuMsOf(pid: number | undefined): number | undefined {
  if (pid === undefined || process.platform !== 'linux') return undefined;
  const sum = familyOf(pid).reduce((total, one) => total + usedMs(one), 0);
  return sum === 0 ? undefined : sum;
}

/** Sends a signal to a process and those below it; one that is gone meanwhile is left out. */
export function signalFamily(pid: number | undefined, signal: 'SIGSTOP' | 'SIGCONT'): void {
  if (pid === undefined) return;
  for (const one of process.platform === 'linux' ? familyOf(pid) : [pid])
    try {
      process.kill(one, signal);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
}
