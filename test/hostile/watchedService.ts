import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startService, type ServiceProcess } from '../support/serviceProcess.ts';

/** A stretch in which the main thread of the service answered nobody. */
export interface HeldSlice {
  readonly wallMs: number;
  /** What the thread itself used of it: a machine that is busy with others does not count. */
  readonly cpuMs: number;
  /** Milliseconds since 1970. */
  readonly endedAt: number;
}

/** What the monitor of the service's own event loop measured, by the wall clock. */
export interface LoopDelay {
  readonly maxMs: number;
  readonly p99Ms: number;
}

/** What the main thread itself spent of a stretch: waiting for a CPU is no fault of a request. */
export const heldMs = ({ wallMs, cpuMs }: HeldSlice): number => Math.min(wallMs, cpuMs);

export interface WatchedService extends ServiceProcess {
  /** The longest stretch while `work` ran and its aftermath, ms of CPU of the main thread. */
  readonly heldDuring: (work: () => Promise<unknown>) => Promise<number>;
  /** Every stretch since the start. */
  readonly slices: () => readonly HeldSlice[];
  /** Begins to measure the delay of its event loop. */
  readonly measureDelay: () => void;
  /** What was measured until a second ago, or until its end. */
  readonly delay: () => LoopDelay;
  /** Holds it for 300 ms, to see that it is seen. */
  readonly hold: () => Promise<void>;
}

const MAIN = fileURLToPath(new URL('./watchedMain.js', import.meta.url));

/** What main thread work may take at once, whatever is sent, ms. */
export const HELD_MS_MAX = 200;
/** What a JSON body may take at once, ms: anybody can send one. */
export const HELD_BY_BODY_MS_MAX = 100;

/** The real service in a process of its own, which says how long its main thread was held. */
export const startWatched = async (
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
): Promise<WatchedService> => {
  const file = join(dataDir, '..', `held-${String(process.pid)}-${String(Date.now())}.ndjson`);
  const service = await startService(dataDir, { ...env, WATCH_FILE: file }, MAIN);
  const slices = (): readonly HeldSlice[] => {
    try {
      const lines = readFileSync(file, 'utf8').split('\n');
      return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as HeldSlice);
    } catch {
      return [];
    }
  };
  /** Two turns of the loop: a stretch is told by the timer after it. */
  const turned = async (): Promise<void> => {
    for (let turn = 0; turn < 2; turn += 1) {
      const answer = await fetch(`${service.url}/health/live`);
      await answer.arrayBuffer();
    }
  };
  const heldDuring = async (work: () => Promise<unknown>): Promise<number> => {
    await turned();
    const before = slices().length;
    await work();
    await turned();
    return slices()
      .slice(before)
      .reduce((worst, slice) => Math.max(worst, heldMs(slice)), 0);
  };
  const hold = async (): Promise<void> => {
    process.kill(service.pid, 'SIGUSR2');
    await turned();
  };
  const measureDelay = (): void => {
    process.kill(service.pid, 'SIGWINCH');
  };
  const delay = (): LoopDelay => JSON.parse(readFileSync(`${file}.delay`, 'utf8')) as LoopDelay;
  return { ...service, heldDuring, slices, measureDelay, delay, hold };
};
