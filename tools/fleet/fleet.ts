import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { randomUUID } from 'node:crypto';
import { replicaOf, startUntilUp, type FleetRole, type Replica } from '../../test/support/fleet/processes.ts';
import {
  eventStoreServer,
  objectServer,
  postgresServer,
  redisServer,
  type EventServer,
  type FleetServer,
} from '../../test/support/fleet/servers.ts';
import { CLI } from '../../test/support/program.ts';
import { ADMIN_KEY } from '../../test/support/serviceProcess.ts';

/** Every process of a service that runs on several. */
export interface Fleet {
  readonly servers: {
    readonly postgres: FleetServer;
    readonly redis: FleetServer;
    readonly events: EventServer;
    readonly objects: FleetServer;
  };
  readonly replicas: readonly Replica[];
  readonly apis: readonly Replica[];
  readonly projectors: readonly Replica[];
  readonly workers: readonly Replica[];
  /** The environment that a command line beside the fleet needs. */
  readonly env: Readonly<Record<string, string>>;
  /** Processes that ended though nobody ended them, with the end of their output. */
  readonly accidents: readonly string[];
  /** While a process is named here, its end is meant. */
  readonly meant: Set<string>;
  /** Asks all to end; gives the exit codes of those that ran. */
  readonly stop: () => Promise<Readonly<Record<string, number | null>>>;
}

interface FleetSize {
  readonly apis: number;
  readonly projectors: number;
  readonly workers: number;
  /** What all run at first, of another release; by default this one. */
  readonly program?: string | undefined;
}

const WATCH_MS = 500;

/** Starts what has ended by itself, as an orchestrator does, and remembers it. */
const watchOver = (replicas: readonly Replica[], meant: ReadonlySet<string>, accidents: string[]) => {
  const starting = new Set<string>();
  const look = (): void => {
    for (const replica of replicas) {
      if (replica.isRunning() || meant.has(replica.name) || starting.has(replica.name)) continue;
      accidents.push(`${replica.name}: ${replica.output().slice(-600)}`);
      starting.add(replica.name);
      void startUntilUp(replica)
        .catch(() => undefined)
        .finally(() => starting.delete(replica.name));
    }
  };
  return setInterval(look, WATCH_MS);
};

/** Starts the servers and the processes: APIs, projectors, workers, each with a role and a folder of its own. */
export const startFleet = async (
  size: FleetSize,
  env: Readonly<Record<string, string>> = {},
): Promise<Fleet> => {
  const folder = await mkdtemp(join(tmpdir(), 'quire-fleet-'));
  await chmod(folder, 0o755);
  await mkdir(join(folder, 'objects'));
  const [postgres, redis] = [await postgresServer(folder), await redisServer(folder)];
  const [events, objects] = [await eventStoreServer(folder), await objectServer(folder)];
  const servers = { postgres, redis, events, objects };
  for (const server of [redis, events, objects]) await server.start();
  const shared = {
    EVENTSTORE_URL: events.url,
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    ...objects.env,
    ...env,
  };
  const of = (role: FleetRole, count: number) =>
    Array.from({ length: count }, (_, n) => {
      const name = `${role}-${n + 1}`;
      return replicaOf({ name, role, dataDir: join(folder, name), env: shared, program: size.program });
    });
  const replicas = await Promise.all([
    ...of('projector', size.projectors),
    ...of('api', size.apis),
    ...of('worker', size.workers),
  ]);
  await Promise.all(replicas.map((replica) => startUntilUp(replica)));
  const accidents: string[] = [];
  const meant = new Set<string>();
  const watch = watchOver(replicas, meant, accidents);
  const stop = async () => {
    clearInterval(watch);
    const codes = await Promise.all(
      replicas.map(async (one) => [one.name, await one.kill('SIGTERM')] as const),
    );
    for (const server of Object.values(servers)) await server.kill();
    await rm(folder, { recursive: true, force: true });
    return Object.fromEntries(codes);
  };
  const withRole = (role: FleetRole) => replicas.filter((one) => one.role === role);
  return {
    servers,
    replicas,
    apis: withRole('api'),
    projectors: withRole('projector'),
    workers: withRole('worker'),
    env: shared,
    accidents,
    meant,
    stop,
  };
};

const PROBE = 'probe';
const PATIENCE_MS = 120_000;
const EVERY_MS = 25;
const CALL_MS = 5_000;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const headers = { 'content-type': 'application/json', 'x-api-key': ADMIN_KEY };

interface Asked {
  readonly method: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const ask = async (url: string, init: Asked): Promise<Record<string, unknown> | undefined> => {
  try {
    const answer = await fetch(url, {
      ...init,
      headers: { ...headers, ...init.headers },
      signal: AbortSignal.timeout(CALL_MS),
    });
    const body = (await answer.json()) as Record<string, unknown>;
    return answer.ok ? body : undefined;
  } catch {
    return undefined;
  }
};

/** How long after a fault what was back, ms. */
interface Recovery {
  /** The first command that was accepted by some replica. */
  readonly writesMs: number;
  /** Every replica that runs answers reads with that command's effect: the projections are there too. */
  readonly readsMs: number;
}

/** Moves credits of an account of its own until that succeeds, then waits until every API shows it. */
const recoveryOf = async ({ apis }: Fleet, since: number): Promise<Recovery> => {
  const body = JSON.stringify({ credits: 1, reason: 'probe' });
  const path = `/v1/admin/tenants/${PROBE}/adjust-credits`;
  const until = performance.now() + PATIENCE_MS;
  const identity = randomUUID();
  let made: Record<string, unknown> | undefined;
  for (let n = 0; made === undefined; n += 1) {
    if (performance.now() > until) return { writesMs: Infinity, readsMs: Infinity };
    const { url } = apis[n % apis.length]!;
    made = await ask(`${url}${path}`, { method: 'POST', body, headers: { 'idempotency-key': identity } });
    if (made === undefined) await pause(EVERY_MS);
  }
  const writesMs = performance.now() - since;
  const wanted = Number(made['balance_credits']);
  const shows = async (url: string): Promise<boolean> => {
    const said = await ask(`${url}/v1/billing/balance/${PROBE}`, { method: 'GET' });
    return said !== undefined && Number(said['balance_credits']) >= wanted;
  };
  for (;;) {
    const shown = await Promise.all(apis.filter((one) => one.isRunning()).map(({ url }) => shows(url)));
    if (shown.length > 0 && shown.every(Boolean)) return { writesMs, readsMs: performance.now() - since };
    if (performance.now() > until) return { writesMs, readsMs: Infinity };
    await pause(EVERY_MS);
  }
};

/** Opens the account that probes move. */
export const openProbe = async ({ apis }: Fleet): Promise<void> => {
  const made = await ask(`${apis[0]!.url}/v1/api-keys`, {
    method: 'POST',
    body: JSON.stringify({ tenant_id: PROBE, name: 'probe' }),
  });
  if (made === undefined) throw new Error('the account of the probes cannot be opened');
};

/** Moves the probes' account and waits until all replicas show it; gives its balance. */
const probeBalance = async (fleet: Fleet, credits: number): Promise<number> => {
  const body = JSON.stringify({ credits: credits === 0 ? 1 : credits, reason: 'probe' });
  const made = await ask(`${fleet.apis[0]!.url}/v1/admin/tenants/${PROBE}/adjust-credits`, {
    method: 'POST',
    body,
    headers: { 'idempotency-key': randomUUID() },
  });
  if (made === undefined) throw new Error('the account of the probes cannot be moved');
  return Number(made['balance_credits']);
};

/** Asks all replicas until each shows what the log has; gives how long one of them showed what it lost, ms. */
const untilNoneShows = async (
  { apis }: Fleet,
  { kept, lost }: { readonly kept: number; readonly lost: number },
): Promise<number> => {
  const began = performance.now();
  let staleMs = 0;
  for (;;) {
    const shown = await Promise.all(
      apis.map(async ({ url }) => {
        const said = await ask(`${url}/v1/billing/balance/${PROBE}`, { method: 'GET' });
        return said === undefined ? undefined : Number(said['balance_credits']);
      }),
    );
    const tookMs = performance.now() - began;
    if (shown.includes(lost)) staleMs = tookMs;
    if (shown.every((credits) => credits === kept)) return staleMs;
    if (tookMs > PATIENCE_MS) throw new Error(`after the log was put back replicas show ${shown.join(', ')}`);
    await pause(EVERY_MS);
  }
};

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

const run = promisify(execFile);

/**
 * Goes over to this release as docs/how-to/upgrade.md says: the read models are built beside the serving ones, then
 * projectors, workers and APIs are replaced, one after the other. What is of this release already stays.
 */
const upgrade = (name: string, which: (fleet: Fleet) => readonly Replica[]): Fault => ({
  name,
  strike: async (fleet) => {
    const { PATH = '', HOME = '' } = process.env;
    const env = { PATH, HOME, ...fleet.env };
    await run(process.execPath, [CLI, 'projections', 'migrate'], { env });
    for (const replica of which(fleet).filter((one) => one.upgrade()))
      await ended(fleet, replica, { signal: 'SIGTERM', downMs: 0 });
  },
});

/** Both releases run beside each other under every fault, then this one alone. */
export const UPGRADING: readonly Fault[] = [
  upgrade('half of the fleet upgraded', ({ projectors, workers, apis }) =>
    [projectors, workers, apis].flatMap((all) => all.slice(all.length >> 1)),
  ),
  ...FAULTS,
  upgrade('the rest upgraded', ({ replicas }) => replicas),
  ...FAULTS,
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
