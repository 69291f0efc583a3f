import { cpuSince } from '../../engine/test/bench/cpu.ts';
import { closedLoop, type ClosedLoop, type Run } from '../../engine/test/bench/measure.ts';

/** What one run does: so many tenants, so many callers at a time. */
export interface Load extends ClosedLoop {
  readonly tenants: number;
  readonly seed: number;
}

/** Credits that every tenant starts with. */
export const START_CREDITS = 1_000_000_000;

/** One way to burn credits durably. A run throws when its books do not balance afterwards. */
export interface Contestant {
  readonly name: string;
  readonly run: (load: Load) => Promise<Run & { readonly note?: string }>;
}

/** What a contestant does for one burn, and what it has still to do when the last is acknowledged. */
export interface Work {
  readonly once: (caller: number, turn: number) => Promise<void>;
  readonly after?: () => Promise<void>;
  /** A server that takes part beside this process; undefined if it runs where its CPU time cannot be seen. */
  readonly server?: number | undefined;
}

/** A closed loop with the CPU time of this process, in which callers and contestant are, and of the server. */
export const timedBurns = async (load: Load, work: Work): Promise<Run> => {
  const { once, after } = work;
  const seen = !('server' in work) || work.server !== undefined;
  const spent = cpuSince([process.pid, ...(work.server === undefined ? [] : [work.server])]);
  const run = await closedLoop(load, once);
  await after?.();
  return seen ? { ...run, cpuMs: spent() / Math.max(1, run.done) } : run;
};

const DRIVER_SECONDS = 0.5;

/** Burns nothing: what the callers' loop alone costs, which is in every contestant's CPU time and is taken off it. */
export const driverAlone: Contestant = {
  name: 'the driver alone',
  run: ({ tenants, inFlight, seed }) =>
    timedBurns({ tenants, inFlight, seed, seconds: DRIVER_SECONDS }, { once: () => Promise.resolve() }),
};
