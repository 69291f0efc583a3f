import process from 'node:process';

/** What a clock reads, ms: the time of the wall, and the CPU time of this process. */
export interface Clocks {
  readonly wallMs: () => number;
  readonly cpuMs: () => number;
}

const CLOCKS: Clocks = {
  wallMs: () => performance.now(),
  cpuMs: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
};

/**
 * Time that this process worked since the clock was made, ms, for code that hears of no message meanwhile: its CPU
 * time, and never more than has passed. A process that is stopped, or waits for a processor, does not work.
 */
export function workClock({ wallMs, cpuMs }: Clocks = CLOCKS): () => number {
  const [wall, cpu] = [wallMs(), cpuMs()];
  return () => Math.min(wallMs() - wall, cpuMs() - cpu);
}
