import type { Logger } from 'pino';
import { protectionText, type ProtectionFacts } from '../doctor/parts.ts';
import { newEnds, openParts, type Ends, type Parts } from '../parts/parts.ts';
import { banner, firstAdminKey, openFirstTenant } from '../operator/start.ts';
import type { Context } from './context.ts';
import type { Config } from '../config.ts';
import { openedLog } from '../commands/sealing.ts';
import { contextOver } from './composition.ts';
import { openLogger, say } from '../telemetry/output.ts';
import { openTracer, showGauges } from './telemetry.ts';
import { prepareTables } from '../parts/tables.ts';
import { tableWatch } from './upkeep.ts';
import { watchLoopDelay } from '../telemetry/processMetrics.ts';
import { hearOperators, serve } from './api.ts';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Replicas } from '../../domain/ports/services.ts';
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
const heartbeatOf = ({ replicas, config, logger }: HeartbeatDeps) => {
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

/** How long a start waits for read models to catch up before it serves with what they have, ms. */
const CATCH_UP_MS = 10_000;
/** How long running requests get after SIGTERM before their holds are left to expire, ms. */
const DRAIN_MS = 25_000;

/** How often answers that are no longer kept are removed, ms. */
const PURGE_EVERY_MS = 60 * 60 * 1000;

/** A running service. */
export interface Quire {
  /** Where it listens: for the API, or in a process without that role for health and metrics alone. */
  readonly url: string;
  /** Takes no new work, lets running work finish, closes every part. */
  readonly stop: () => Promise<void>;
}

/** How long requests that came during the shutdown get for their refusals, ms. */
const REFUSALS_MS = 2_000;

/** Waits until the read models have what the log has; late ones serve what they have. */
const catchUp = async (from: Context): Promise<void> => {
  const head = await from.parts.log.head();
  if (head !== undefined) await from.runner.waitFor(head, { timeoutMs: CATCH_UP_MS });
};

const within = (work: Promise<void>, ms: number): Promise<void> =>
  Promise.race([work, new Promise<void>((resolve) => setTimeout(resolve, ms).unref())]);

/** Answers that are kept no longer only take room: a purge that fails is tried again. */
const purgeNowAndThen = (from: Context): NodeJS.Timeout => {
  const replays = from.replays;
  const used = from.usedOnce;
  const onError = (err: unknown) => from.logger.warn({ msg: 'purge failed', err });
  const purge = () => Promise.all([replays.purge(), used.purge()]).catch(onError);
  return setInterval(() => void purge(), PURGE_EVERY_MS).unref();
};

const protectionOf = async ({ workers }: Parts, logger: Logger): Promise<ProtectionFacts> => {
  const protection = await workers.protection();
  if (protection.open.length > 0)
    logger.warn({ msg: 'parsers are not fully confined', reaches: protection.open });
  return protection;
};

interface Opened {
  readonly config: Config;
  readonly parts: Parts;
  readonly logger: Logger;
  readonly ends: Ends;
}

/** What keeps house, and what does the work that waits in the log. */
const workersOf = (from: Context): readonly { readonly start: () => void; stop: () => Promise<void> }[] => {
  const sealer = from.logSealer;
  return [
    from.sweeper,
    from.objectSweeper,
    from.trainingWorker,
    from.operationWorker,
    from.batchWorker,
    from.evaluationWorker,
    from.webhookSender,
    ...(sealer === null ? [] : [sealer]),
  ];
};

/** What there is to begin with. A key that is shown opens every process at once. */
const firstKeyAndTenant = async (from: Context): Promise<string | undefined> => {
  const key = await firstAdminKey(from);
  const isOpened = await openFirstTenant(from);
  if (key !== undefined || isOpened) await catchUp(from);
  return key;
};

/** Opens the log, and follows it: from then on the read models have what it has, or tell that they do not. */
const followLog = async (from: Context, ends: Ends): Promise<void> => {
  const { runner, logWatch: watch } = from;
  ends.add(() => runner.stop());
  ends.add(() => from.models.close());
  for (const part of [from.reviewWorker, from.rulesWorker, from.lookupWorker, from.printer])
    ends.add(() => part.stop());
  ends.add(() => from.llmCosts.close());
  ends.add(() => from.accounts.close());
  const now = from.clock.now();
  await openedLog(from.parts.log, now);
  await from.reference.ensureDefaults(now);
  if (from.config.roles.includes('projector')) runner.start();
  await catchUp(from);
  await watch.check();
  watch.start();
  ends.add(() => watch.stop());
};

/** Starts the roles of this process, with an end for each; gives where it listens. */
const startOver = async ({ config, parts, logger, ends }: Opened): Promise<string> => {
  const tracer = await openTracer(config, logger);
  ends.add(() => tracer.close());
  await prepareTables(config, parts.sql);
  const from = contextOver(config, parts, { logger, tracer });
  const does = (role: Config['roles'][number]) => config.roles.includes(role);
  await followLog(from, ends);
  const isApi = does('api');
  const key = isApi ? await firstKeyAndTenant(from) : undefined;
  showGauges(from);
  const stopWatching = watchLoopDelay(from.registry);
  ends.add(stopWatching);
  const drift = from.driftCheck;
  ends.add(() => drift.stop());
  const unfinished = from.unfinishedSweeper;
  ends.add(() => from.facts.close());
  ends.add(() => unfinished.stop());
  const server = await serve(from, isApi);
  ends.add(() => within(server.close(), REFUSALS_MS));
  // Until then it listens: probes are answered, and new requests are sent elsewhere.
  ends.add(() => within(server.running.ended(), DRAIN_MS));
  if (does('projector')) drift.start();
  // In each process: what neither the log nor the object store took is known to this one alone.
  unfinished.start();
  const workers = workersOf(from);
  const heartbeat = heartbeatOf(from);
  ends.add(heartbeat.leave);
  heartbeat.start();
  const tables = tableWatch(from);
  ends.add(() => tables.stop());
  if (does('projector')) tables.start();
  ends.add(() => Promise.all(workers.map((one) => one.stop())));
  if (does('worker')) for (const one of workers) one.start();
  ends.add(() => {
    for (const slots of [from.slots, from.queueSlots.accepting, from.queueSlots.waiting]) slots.close();
  });
  ends.add(() => from.audits.close());
  const operators = await hearOperators(from, server.url);
  ends.add(() => operators.close());
  const purge = purgeNowAndThen(from);
  ends.add(() => {
    from.readiness.drain();
    clearInterval(purge);
  });
  const protection = await protectionOf(parts, logger);
  const link = key === undefined ? undefined : await from.api.sessions.newLink(key);
  const started = { url: server.url, isApi, key, link, parsers: protectionText(protection) };
  say(banner(parts, started));
  return server.url;
};

/**
 * Opens the parts, prepares them, starts this process's roles, and prints where it listens. `open` may
 * put something around the parts: specs do, to end the process at a chosen moment. A start that is `stopped` goes
 * no further than to what it opens at that moment, closes what is open, and throws the reason.
 */
export const startQuire = async (
  config: Config,
  open: typeof openParts = openParts,
  stopped: AbortSignal = new AbortController().signal,
): Promise<Quire> => {
  const logger = openLogger(config);
  const parts = await open(config, {
    lockLost: (err) => {
      logger.fatal({ msg: 'the data folder was taken by another process', err });
      process.exit(1);
    },
    logTrouble: (reason) => {
      if (reason === null) logger.info({ msg: 'the event log can be written again' });
      else logger.error({ msg: 'the event log cannot be written', reason });
    },
    serverAway: ({ name, variable }, reason) =>
      logger.warn({
        msg: `${name} is waited for, up to ${String(config.startWaitSeconds)} s`,
        variable,
        reason,
      }),
    redisOutage: (err) =>
      logger.warn({ msg: 'Redis cannot be reached; limits are counted in this process', err }),
    stopped,
  });
  const ends = newEnds(stopped);
  try {
    ends.add(() => parts.close());
    const url = await startOver({ config, parts, logger, ends });
    return { url, stop: ends.close };
  } catch (error) {
    await ends
      .close()
      .catch((err: unknown) => logger.warn({ msg: 'a start that failed left something', err }));
    throw error;
  }
};
