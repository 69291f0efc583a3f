import { randomBytes, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { protectionText, type ProtectionFacts } from '../doctor/parts.ts';
import { openParts, type Parts } from './parts.ts';
import { formatKey, keyTraces, type ApiKeyState } from '../../domain/apiKey.ts';
import type { ApiKeys } from '../commands/apiKeys.ts';
import type { Context } from './context.ts';
import type { ReplicaFacts } from '../../domain/ports/services.ts';
import { sweeperOf } from '../writer/sweeper.ts';
import { VERSION } from '../version.ts';
import type { Config } from '../config.ts';
import { openedLog } from '../commands/sealing.ts';
import { contextOver } from './container.ts';
import { openLogger, say } from './output.ts';
import { openTracer, showGauges } from './telemetry.ts';
import { prepareTables, tableWatch } from './tables.ts';
import { exportedEvents } from '../operator/log.ts';
import { accountStream } from '../../domain/account/messages.ts';
import { systemMeta } from '../writer/commandMeta.ts';
import { watchLoopDelay } from '../telemetry/processMetrics.ts';
import { hearOperators, serve } from './api.ts';

interface Started {
  readonly url: string;
  readonly isApi: boolean;
  /** The first admin key, where it was made just now. */
  readonly key: string | undefined;
  /** Signs its holder in to the console once, where the key was made. */
  readonly link: string | undefined;
  readonly protection: ProtectionFacts;
}

const whereOf = ({ url, isApi }: Started): readonly string[] =>
  isApi
    ? [`Quire listens on ${url}`, `  reference     ${url}/docs`, `  console       ${url}/`]
    : ['Quire runs without an API', `  health        ${url}/health, with /metrics beside it`];

/** The output of a start: where it listens, and its parts. */
const banner = (parts: Parts, started: Started): string => {
  const { key, link, protection } = started;
  const { event_log, read_models, objects, limits } = parts.names;
  const lines = [
    '',
    ...whereOf(started),
    `  event log     ${event_log}`,
    `  read models   ${read_models}`,
    `  objects       ${objects}`,
    `  rate limits   ${limits}`,
    `  parsers       ${protectionText(protection)}`,
  ];
  if (parts.recreated !== null)
    lines.push(`  read models are being rebuilt from the event log: ${parts.recreated}`);
  if (key !== undefined)
    lines.push(
      '',
      `  admin key     ${key}`,
      '                shown this once: keep it, it cannot be shown again',
    );
  if (link !== undefined)
    lines.push('', `  sign in       ${link}`, '                works once, for 15 minutes');
  else if (started.isApi)
    lines.push('  sign in       with a key, or by the link that quire sign-in-link prints');
  return `${lines.join('\n')}\n`;
};

/** Everything that a process has opened, to be closed when it ends. */
interface Ends {
  /** Throws where the process was told to end meanwhile: what is opened after that would be opened for nothing. */
  readonly add: (end: () => unknown) => void;
  /** Closes what was opened last first; throws the first error, after all have had their turn. */
  readonly close: () => Promise<void>;
}

/** One end that fails keeps no other from its own. */
export const newEnds = (stopped?: AbortSignal): Ends => {
  const ends: (() => unknown)[] = [];
  return {
    add: (end) => {
      ends.unshift(end);
      stopped?.throwIfAborted();
    },
    close: async () => {
      const failures: unknown[] = [];
      for (const end of ends.splice(0)) {
        try {
          await end();
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    },
  };
};

/** The tenant that admin keys made at start belong to. */
const OPERATOR = 'operator';

/** The tenant that is there to begin with. */
const FIRST_TENANT = 'default';

/** Whether the log has an account but the operator's own: told by its first events, so not by read models. */
const hasTenants = async ({ parts }: Context): Promise<boolean> => {
  const { signal } = new AbortController();
  for await (const { stream } of exportedEvents(parts.log, { category: 'account' }, signal))
    if (stream !== accountStream(OPERATOR)) return true;
  return false;
};

/**
 * Opens a first account, so that somebody who tries the service can read documents at once. Only if all parts are
 * embedded and there is no tenant yet: on servers an operator knows the tenants. Says whether it was opened.
 */
const openFirstTenant = async (from: Context): Promise<boolean> => {
  const { eventStoreUrl, databaseUrl, redisUrl, s3 } = from.config;
  const isEmbedded = [eventStoreUrl, databaseUrl, redisUrl, s3].every((server) => server === undefined);
  if (!isEmbedded || (await hasTenants(from))) return false;
  const opened = await from.accounts.execute({
    type: 'OpenAccount',
    data: { tenant_id: FIRST_TENANT },
    meta: systemMeta(from, 'first-start'),
  });
  return opened.kind === 'done';
};

/** The key that a key's rotations have led to. */
const newestOf = async (keys: Pick<ApiKeys, 'stateOf'>, keyId: string): Promise<ApiKeyState> => {
  let state = await keys.stateOf(keyId);
  while (state.replaced_by !== null) state = await keys.stateOf(state.replaced_by);
  return state;
};

/**
 * The name of the next first key; undefined while one made before opens anything. Names are counted, not
 * drawn, so that of several processes that start at once one makes the key and the log refuses the others.
 */
const freeKeyId = async (keys: Pick<ApiKeys, 'stateOf'>): Promise<string | undefined> => {
  for (let n = 1; ; n += 1) {
    const keyId = `key_first_start_${String(n)}`;
    const { key, revoked } = await newestOf(keys, keyId);
    if (key === null) return keyId;
    if (!revoked) return undefined;
  }
};

/**
 * The first admin key, made when the configuration gives none and the log has none; undefined otherwise,
 * also when another process that starts has just made it and shows it. The key is shown once and never
 * stored.
 */
const firstAdminKey = async (from: Context): Promise<string | undefined> => {
  const clock = from.clock;
  if (from.config.adminApiKey !== undefined) return undefined;
  if ((await from.queries.liveAdminKeys(clock.now())) > 0) return undefined;
  const keys = from.apiKeys;
  const key_id = await freeKeyId(keys);
  if (key_id === undefined) return undefined;
  const key = formatKey('admin', randomBytes(96));
  const meta = {
    now: clock.now(),
    actor: { key_id: 'first_start', role: 'system' },
    correlation_id: 'first-start',
    command_id: clock.uuid(),
  } as const;
  const issued = await keys.issue(
    {
      key_id,
      ...keyTraces(key),
      tenant_id: OPERATOR,
      role: 'admin',
      name: 'first start',
      expires_at: null,
    },
    meta,
  );
  if (issued.kind !== 'done') throw new Error(`the first admin key could not be stored: ${issued.kind}`);
  return issued.events.length === 0 ? undefined : key;
};

/** Often enough that a process which was seen within a minute is alive. */
const EVERY_MS = 15_000;

/** This process's description of itself; its ID is another at each start. */
const factsOf = (from: Context): ReplicaFacts => ({
  replica_id: `${hostname()}-${randomUUID().slice(0, 8)}`,
  version: VERSION,
  roles: [...from.config.roles],
});

/** Tells the other processes now and then that this one is there, and at its end that it is gone. */
const startReplicaHeartbeat = (from: Context, ends: Ends): void => {
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

/** Starts the roles of this process, with an end for each; gives where it listens. */
const startOver = async ({ config, parts, logger, ends }: Opened): Promise<string> => {
  const tracer = await openTracer(config, logger);
  ends.add(() => tracer.close());
  await prepareTables(config, parts.sql);
  const from = contextOver(config, parts, { logger, tracer });
  const does = (role: Config['roles'][number]) => config.roles.includes(role);
  const runner = from.runner;
  ends.add(() => runner.stop());
  ends.add(() => from.models.close());
  for (const part of [from.reviewWorker, from.printer]) ends.add(() => part.stop());
  ends.add(() => from.llmCosts.close());
  ends.add(() => from.accounts.close());
  const now = from.clock.now();
  await openedLog(from.parts.log, now);
  await from.reference.ensureDefaults(now);
  if (does('projector')) runner.start();
  await catchUp(from);
  const watch = from.logWatch;
  await watch.check();
  watch.start();
  ends.add(() => watch.stop());
  const isApi = does('api');
  const key = isApi ? await firstKeyAndTenant(from) : undefined;
  showGauges(from);
  const stopWatching = watchLoopDelay(from.registry);
  ends.add(() => {
    stopWatching();
    return Promise.resolve();
  });
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
  startReplicaHeartbeat(from, ends);
  const tables = tableWatch(from);
  ends.add(() => tables.stop());
  if (does('projector')) tables.start();
  ends.add(() => Promise.all(workers.map((one) => one.stop())));
  if (does('worker')) for (const one of workers) one.start();
  ends.add(() => from.slots.close());
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
  say(banner(parts, { url: server.url, isApi, key, link, protection }));
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
