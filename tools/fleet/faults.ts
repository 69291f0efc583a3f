import type { Fleet } from './fleet.ts';
import { probeBalance, recoveryOf, untilNoneShows, type Recovery } from './probe.ts';
import { startUntilUp, type Replica } from '../../test/support/fleet/processes.ts';
import type { FleetServer } from '../../test/support/fleet/servers.ts';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** What is done to a fleet. */
export interface Fault {
  readonly name: string;
  /** Does it and mends it; resolves when what was ended runs again. */
  readonly strike: (fleet: Fleet, callers: Callers) => Promise<void>;
  /** What was acknowledged is lost: callers hold other figures than the log from then on. */
  readonly loses?: boolean;
}

/** The load, which can be kept still for a moment. */
export interface Callers {
  /** Resolves when nothing runs; nothing new is sent until `goOn`. */
  readonly hold: () => Promise<void>;
  readonly goOn: () => void;
}

/** A fault that struck, and how long its effects were felt. */
export interface Struck extends Recovery {
  readonly name: string;
  /** From the fault until what it hit ran again, ms. */
  readonly mendedMs: number;
}

const ended = async (fleet: Fleet, replica: Replica, how: { signal: NodeJS.Signals; downMs: number }) => {
  fleet.meant.add(replica.name);
  await replica.kill(how.signal);
  await pause(how.downMs);
  await startUntilUp(replica);
  fleet.meant.delete(replica.name);
};

/** The one that projects now, by what it said last. */
const active = ({ projectors }: Fleet): Replica =>
  projectors.reduce((a, b) => (b.projectsSince() > a.projectsSince() ? b : a));

let turn = 0;
const nextOf = (replicas: readonly Replica[]): Replica => {
  turn += 1;
  return replicas[turn % replicas.length]!;
};

const down = (name: string, server: (fleet: Fleet) => FleetServer, downMs: number): Fault => ({
  name: `${name} killed, ${downMs / 1000} s away`,
  strike: async (fleet) => {
    await server(fleet).kill();
    await pause(downMs);
    await server(fleet).start();
  },
});

const frozen = (
  name: string,
  what: (fleet: Fleet) => Pick<Replica, 'freeze' | 'thaw'>,
  ms: number,
): Fault => ({
  name: `${name} frozen for ${ms / 1000} s`,
  strike: async (fleet) => {
    const one = what(fleet);
    await one.freeze();
    await pause(ms);
    await one.thaw();
  },
});

const killed = (
  name: string,
  which: (fleet: Fleet) => Replica,
  how: { signal: NodeJS.Signals; downMs: number },
): Fault => ({
  name: `${name}, ${how.signal}, ${how.downMs / 1000} s away`,
  strike: (fleet) => ended(fleet, which(fleet), how),
});

const crash = (downMs: number) => ({ signal: 'SIGKILL' as const, downMs });

/** Answers of replicas that must not be seen: figures of a log that is not there any more, for longer than this. */
const STALE_MS_MAX = 15_000;
/** What sweepers and the sales in hand have to do before a copy is of one moment. */
const CALM_MS = 2_000;

/**
 * The event store comes back with a copy that was made before its newest events: as of a restore, nobody
 * writes while it is done. Every replica has to notice, refuse, and answer from the log that is there.
 */
export const OLDER_COPY: Fault = {
  name: 'EventStoreDB put back to an older copy',
  loses: true,
  strike: async (fleet, { hold, goOn }) => {
    const { events } = fleet.servers;
    await hold();
    await pause(CALM_MS);
    const kept = await probeBalance(fleet, 0);
    await events.copy();
    const lost = await probeBalance(fleet, 1_000_000);
    goOn();
    await pause(CALM_MS);
    await hold();
    await events.kill();
    await events.putBack();
    await events.start();
    const staleMs = await untilNoneShows(fleet, { kept, lost });
    goOn();
    if (staleMs > STALE_MS_MAX) throw new Error(`figures of a lost log were shown for ${staleMs} ms`);
  },
};

/** Everything that a machine room does to a service, one after the other. */
export const FAULTS: readonly Fault[] = [
  killed('an API replica', ({ apis }) => nextOf(apis), crash(2_000)),
  killed('the active projector', active, crash(3_000)),
  down('PostgreSQL', ({ servers }) => servers.postgres, 3_000),
  down('Redis', ({ servers }) => servers.redis, 5_000),
  killed('a worker', ({ workers }) => nextOf(workers), crash(2_000)),
  down('EventStoreDB', ({ servers }) => servers.events, 3_000),
  killed('an API replica replaced', ({ apis }) => nextOf(apis), { signal: 'SIGTERM', downMs: 0 }),
  frozen('Redis', ({ servers }) => servers.redis, 4_000),
  frozen('the active projector', active, 12_000),
  killed('the active projector replaced', active, { signal: 'SIGTERM', downMs: 0 }),
  frozen('an API replica', ({ apis }) => nextOf(apis), 3_000),
  frozen('PostgreSQL', ({ servers }) => servers.postgres, 4_000),
  // Longer than a read waits for the log (10 s), and than a connection without a sign of life lasts (20 s).
  frozen('EventStoreDB', ({ servers }) => servers.events, 25_000),
];

/** Strikes, and measures until writes and reads are back on every replica that runs. */
export const strike = async (fleet: Fleet, fault: Fault, callers: Callers): Promise<Struck> => {
  const began = performance.now();
  if (fault.loses === true) {
    // A command that was accepted before the copy came back proves nothing.
    await fault.strike(fleet, callers);
    return { name: fault.name, mendedMs: performance.now() - began, ...(await recoveryOf(fleet, began)) };
  }
  const mending = fault.strike(fleet, callers).then(() => performance.now() - began);
  // Long enough for the fault to have happened: what was asked before it says nothing.
  await pause(300);
  const [recovery, mendedMs] = await Promise.all([recoveryOf(fleet, began), mending]);
  return { name: fault.name, mendedMs, ...recovery };
};
