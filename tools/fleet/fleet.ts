import { mkdir, mkdtemp, rm, chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { replicaOf, startUntilUp, type FleetRole, type Replica } from '../../test/support/fleet/processes.ts';
import {
  eventStoreServer,
  objectServer,
  postgresServer,
  redisServer,
  type EventServer,
  type FleetServer,
} from '../../test/support/fleet/servers.ts';

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

export interface FleetSize {
  readonly apis: number;
  readonly projectors: number;
  readonly workers: number;
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
      return replicaOf({ name, role, dataDir: join(folder, name), env: shared });
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
