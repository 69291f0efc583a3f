import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import type { Replicas } from '../../domain/ports/services.ts';
import type { Config } from '../config.ts';
import { VERSION } from '../version.ts';
import { sweeperOf } from '../writer/sweeper.ts';

/** Often enough that a process which was seen within a minute is alive. */
const EVERY_MS = 15_000;

interface HeartbeatDeps {
  readonly replicas: Replicas;
  readonly config: Pick<Config, 'roles'>;
  readonly logger: Pick<Logger, 'warn'>;
}

/** Tells the other processes every 15 s that this one is there, and at its end that it is gone. */
export const heartbeatOf = ({ replicas, config, logger }: HeartbeatDeps) => {
  // Its ID is another at each start.
  const facts = {
    replica_id: `${hostname()}-${randomUUID().slice(0, 8)}`,
    version: VERSION,
    roles: [...config.roles],
  };
  const onError = (err: unknown) => logger.warn({ msg: 'heartbeat failed', err });
  const signs = sweeperOf(() => replicas.beat(facts), { everyMs: EVERY_MS, onError });
  return {
    start: () => signs.start(),
    leave: async (): Promise<void> => {
      await signs.stop();
      await replicas.leave(facts.replica_id).catch(onError);
    },
  };
};
