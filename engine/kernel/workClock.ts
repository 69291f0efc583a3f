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

/** A stretch so long, of which this process worked less than this share, was a pause. */
const PAUSE_MS = 1_000;
const WORKED_SHARE = 0.05;

/**
 * Time since it was made in which this process was at work, ms, for code that hears of no message meanwhile. A process
 * that is stopped sees the time of the wall go on and its CPU time stand still: of such a stretch only the CPU time
 * counts. Ask often: a stretch is the time between two looks.
 */
export function workClock({ wallMs, cpuMs }: Clocks = CLOCKS): () => number {
  let [wall, cpu, worked] = [wallMs(), cpuMs(), 0];
  return () => {
    const [nowWall, nowCpu] = [wallMs(), cpuMs()];
    const [passed, used] = [nowWall - wall, nowCpu - cpu];
    [wall, cpu] = [nowWall, nowCpu];
    worked += passed >= PAUSE_MS && used < WORKED_SHARE * passed ? used : passed;
    return worked;
  };
}
