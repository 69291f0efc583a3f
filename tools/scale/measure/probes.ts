import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Values at even shares from 0.5 % to 99.5 %: enough to draw from. */
export const quantiles = (values: readonly number[], count = 100): readonly number[] => {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return Array.from({ length: count }, (_, n) => round(at((n + 0.5) / count)));
};

/** To four digits that count: more is noise. */
export const round = (value: number): number => Number(value.toPrecision(4));

/** What the kernel says of this process's first thread, in ms. Linux only. */
export interface ThreadTimes {
  /** On a processor. */
  readonly cpuMs: number;
  /** Ready to run, while others ran: what a busy machine adds to a measurement. */
  readonly waitedMs: number;
}

export const threadTimes = (): ThreadTimes => {
  const [cpu, waited] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
  return { cpuMs: Number(cpu) / 1e6, waitedMs: Number(waited) / 1e6 };
};

/** Processor milliseconds of this thread for some work: a busy machine changes it little. */
export const threadCpuOf = async <T>(
  work: () => Promise<T>,
): Promise<{ readonly ms: number; readonly value: T }> => {
  const before = threadTimes().cpuMs;
  const value = await work();
  return { ms: threadTimes().cpuMs - before, value };
};

/** How long it took, ms, without the time that it waited for a processor. */
export const undisturbedMs = (work: () => void): number => {
  const waited = threadTimes().waitedMs;
  const began = performance.now();
  work();
  const elapsed = performance.now() - began;
  return Math.max(0, elapsed - (threadTimes().waitedMs - waited));
};

/** Processor milliseconds of another process, with all its threads; to 10 ms. */
export const processCpuMs = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
};

let collect: (() => void) | undefined;

/** Bytes that this process holds, after a collection of garbage. */
export const heldBytes = (): number => {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
  }
  collect();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

/** y = fixed + each × x through the points, by least squares. */
export const line = (points: readonly (readonly [x: number, y: number])[]) => {
  const mean = (at: 0 | 1) => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const over = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0);
  const each = over / points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
  return { fixed: Math.max(0, y - each * x), each };
};
