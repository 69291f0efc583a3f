import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { ReplicaFacts } from '../../../domain/ports/services.ts';
import { sweeperOf } from '../../commands/sweeper.ts';
import { VERSION } from '../../version.ts';
import type { Ends } from './ends.ts';
import type { Context } from '../context.ts';

/** Often enough that a process which was seen within a minute is alive. */
const EVERY_MS = 15_000;

/** What this process says of itself; its ID is another at each start. */
const factsOf = (from: Context): ReplicaFacts => ({
  replica_id: `${hostname()}-${randomUUID().slice(0, 8)}`,
  version: VERSION,
  roles: [...from.config.roles],
});

/** Tells the other processes now and then that this one is there, and at its end that it is gone. */
export const startReplicaHeartbeat = (from: Context, ends: Ends): void => {
  const replicas = from.replicas;
  const facts = factsOf(from);
  const onError = (err: unknown) => from.logger.warn({ msg: 'heartbeat failed', err });
  const signs = sweeperOf(() => replicas.beat(facts), { everyMs: EVERY_MS, onError });
  ends.add(async () => {
    await signs.stop();
    await replicas.leave(facts.replica_id).catch(onError);
  });
  signs.start();
};
