import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { memoryRateLimiter, systemClock } from '../../../adapters/local/local.ts';
import { EPOCH_DDL, REPLAY_STORE_DDL, REPLICAS_DDL, USED_ONCE_DDL } from '../../../adapters/sqlTables.ts';
import type { ObjectStore, ReplayStore } from '../../../domain/ports/services.ts';
import { prepareReadModels } from '../../../projections/engine/registry.ts';
import type { Sql } from '../../../projections/engine/ports.ts';
import { READ_MODELS } from '../../../projections/readModels.ts';
import { contextOver } from '../../../src/service/composition.ts';
import { consoleOf } from '../../../src/service/api.ts';
import { openParts, type Parts } from '../../../src/parts/parts.ts';
import { sweptObjects } from '../../../src/service/uploads.ts';
import { batchWorkerOf } from '../../../src/service/work.ts';
import { openedLog } from '../../../src/commands/sealing.ts';
import type { ObjectSweeperDeps } from '../../../src/worker/sweeping.ts';
import type { ExtractDeps } from '../../../src/commands/extract.ts';
import { openDocumentWorkers, type DocumentWorkers } from '@quire/engine/isolation/documentWorkers';
import { configFrom, type Config } from '../../../src/config.ts';
import { httpApp } from '../../../src/server/app.ts';
import type { ApiDeps } from '../../../src/api/routes.ts';
import { servedOver, type NamedRoute } from '../../../src/server/routes.ts';
import { httpMetrics } from '../../../src/server/metrics.ts';
import type { Buckets } from '../../../src/server/limits.ts';
import { apiRoutes } from '../../../src/api/routes.ts';
import { VERSION } from '../../../src/version.ts';
import { listen, type ConnectionLimits } from '../../../src/server/connections.ts';
import type { BatchWorker } from '../../../src/worker/batches.ts';
import type { EvaluationWorker } from '../../../src/worker/evaluations.ts';
import type { QueueWorker } from '../../../src/worker/queue.ts';
import type { HeavySlots } from '../../../src/commands/slots.ts';
import type { WebhookSender } from '../../../src/worker/webhooks.ts';
import { laterBy } from '../../../domain/kernel/amounts.ts';
import { prepareDataDir } from '../../support/preparedData.ts';
import { untilProcessEnds } from '../../support/processEnd.ts';
import { ADMIN_KEY } from '../../support/serviceProcess.ts';
import { toldWorkers } from './toldWorkers.ts';
import { client, type Client } from './client.ts';

/** Tenants whose name starts so have the limits of the interface; all others practically none. */
export const LIMITED = 'limited-';

const WIDE = { rate_per_second: 10_000, burst: 1_000_000 };
const UNLIMITED: Buckets = { heavy: WIDE, general: WIDE };

interface Faults {
  replaysAway: boolean;
  objectsAway: boolean;
  draining: boolean;
  /** What an answer waits for before it is kept: its work is done, its request still running. */
  beforeKept: () => Promise<void>;
  /** What an object waits for before it is put, by its key. */
  beforePut: (key: string) => Promise<void>;
  /** Told each line of the log, where `LOG_LEVEL` lets it through. */
  onLog: (line: string) => void;
  /** Told whose each piece of work in a child is. */
  onWork: (share: string) => void;
}

/** The real service over embedded parts, on a free port, and switches that break what it stands on. */
export interface TestApi extends Client {
  readonly routes: readonly NamedRoute[];
  readonly deps: ApiDeps;
  readonly dataDir: string;
  readonly uploadDir: string;
  readonly objects: ObjectStore;
  readonly log: Parts['log'];
  readonly sql: Sql;
  readonly faults: Faults;
  /** Files that its children opened. */
  readonly openings: DocumentWorkers['openings'];
  /** Empties the replay cache, as a lost database would. */
  readonly forgetReplays: () => Promise<void>;
  /** Time as the rate limits see it: it stands still but for this. */
  readonly passMs: (ms: number) => void;
  /** Its worker of operations, which does nothing by itself; told to, it does all that was accepted. */
  readonly operations: QueueWorker;
  /** Room for work whose caller waits. */
  readonly slots: HeavySlots;
  /** Leaves the heartbeat of a replica, which it does not by itself. */
  readonly signOfLife: () => Promise<void>;
  /** Its sender of webhooks, which does nothing by itself. */
  readonly webhooks: WebhookSender;
  /** Puts the clock of everything but rate limits forward. */
  readonly wait: (ms: number) => void;
  /** Its worker of batches, which does nothing by itself. */
  readonly batches: BatchWorker;
  /** A batch worker beside it, as of another process. */
  readonly otherBatches: () => BatchWorker;
  /** Its worker of training jobs, which does nothing by itself. */
  readonly training: QueueWorker;
  /** Its scorer of runs, which does nothing by itself. */
  readonly evaluations: EvaluationWorker;
  /** What its sweeps of objects work on. */
  readonly swept: ObjectSweeperDeps;
  readonly stop: () => Promise<void>;
}

const breakable = (store: ReplayStore, faults: Faults): ReplayStore => ({
  ...store,
  complete: async (...args) => {
    await faults.beforeKept();
    return store.complete(...args);
  },
  begin: (...args) =>
    faults.replaysAway ? Promise.reject(new Error('the replay store is away')) : store.begin(...args),
});

const breakableObjects = (objects: ObjectStore, faults: Faults): ObjectStore => ({
  ...objects,
  put: async (key, bytes) => {
    if (faults.objectsAway) throw new Error('the object store is away');
    await faults.beforePut(key);
    return objects.put(key, bytes);
  },
  putFile: (key, path) =>
    faults.objectsAway ? Promise.reject(new Error('the object store is away')) : objects.putFile(key, path),
});

const pools = new Map<string, DocumentWorkers>();

/** One pool of parsers for all services of a process that read alike: two children cost as much as a service. */
const sharedWorkers = ({ ocrLanguages, ocrEngines }: Config): DocumentWorkers => {
  const reading = JSON.stringify([ocrLanguages, ocrEngines]);
  const open = pools.get(reading);
  if (open !== undefined) return open;
  const workers = openDocumentWorkers({ ocrLanguages, ocrEngines });
  untilProcessEnds(() => workers.close());
  pools.set(reading, workers);
  return workers;
};

type ReaderLimits = Pick<Parameters<typeof httpApp>[0], 'silentMs' | 'unreadBytesMax'>;

const MAX_UPLOAD_BYTES = 1_000_000;

/** As `testApi`, for one spec alone: more of its environment is its own. Whoever starts it stops it. */
export const startApi = async (
  env: Readonly<Record<string, string>> = {},
  deadlineMs?: ExtractDeps['deadlineMs'],
  { silentMs, unreadBytesMax, ...limits }: Partial<ConnectionLimits> & ReaderLimits = {},
): Promise<TestApi> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'quire-http-'));
  await prepareDataDir(dataDir);
  const config = configFrom({
    DATA_DIR: dataDir,
    PORT: '0',
    ADMIN_API_KEY: ADMIN_KEY,
    LOG_LEVEL: 'silent',
    HEAVY_CONCURRENCY: '2',
    MAX_UPLOAD_BYTES: String(MAX_UPLOAD_BYTES),
    ...env,
  });
  const faults: Faults = {
    replaysAway: false,
    objectsAway: false,
    draining: false,
    beforeKept: () => Promise.resolve(),
    beforePut: () => Promise.resolve(),
    onLog: () => undefined,
    onWork: () => undefined,
  };
  const logger = pino({ level: config.logLevel }, { write: (line: string) => faults.onLog(line) });
  const opened = await openParts(config, {
    lockLost: (error) => logger.error(error),
    redisOutage: (error) => logger.error(error),
  });
  const parts = {
    ...opened,
    objects: breakableObjects(opened.objects, faults),
    workers: toldWorkers(sharedWorkers(config), (share) => faults.onWork(share)),
  };
  await parts.sql.script(REPLAY_STORE_DDL);
  for (const ddl of [USED_ONCE_DDL, EPOCH_DDL, REPLICAS_DDL]) await parts.sql.script(ddl);
  await prepareReadModels(parts.sql, READ_MODELS);
  let aheadMs = 0;
  const clock = systemClock();
  const from = contextOver(config, parts, {
    logger,
    clock: {
      ...clock,
      now: () => laterBy(clock.now(), aheadMs),
      monotonicMs: () => performance.now() + aheadMs,
    },
    ...(deadlineMs !== undefined && { extractDeadlines: deadlineMs }),
  });
  const runner = from.runner;
  await openedLog(parts.log, from.clock.now());
  await from.reference.ensureDefaults(from.clock.now());
  await from.logWatch.check();
  runner.start();
  const signOfLife = () => from.replicas.beat({ replica_id: 'replica-1', version: VERSION, roles: ['api'] });
  await signOfLife();
  const deps = from.api;
  let limiterMs = 0;
  const passMs = (ms: number) => {
    limiterMs += ms;
  };
  const app = httpApp({
    routes: servedOver(apiRoutes, deps),
    sessions: deps.sessions,
    reads: deps.reads,
    logger,
    metrics: httpMetrics(from.registry),
    publicUrl: config.publicUrl,
    trustProxy: config.trustProxy,
    pages: consoleOf(config),
    corsOrigins: config.corsOrigins,
    keys: deps.keys,
    limits: {
      limiter: memoryRateLimiter(() => limiterMs),
      bucketsOf: (tenantId) =>
        tenantId.startsWith(LIMITED) ? deps.limits.bucketsOf(tenantId) : Promise.resolve(UNLIMITED),
      inUse: from.bucketsInUse,
    },
    replays: breakable(from.replays, faults),
    texts: from.parts.log.vault?.texts,
    uploads: { dir: parts.uploadDir, bytesMax: MAX_UPLOAD_BYTES, inFlight: from.inFlight },
    clock: deps.clock,
    isDraining: () => faults.draining,
    silentMs,
    unreadBytesMax,
  });
  const server = await listen(app, { host: '127.0.0.1', port: 0 }, limits);
  parts.address.url = server.url;
  const forgetReplays = () => parts.sql.script('delete from http_cache.replays');
  const stop = async () => {
    await server.close();
    await from.audits.close();
    await from.accounts.close();
    await from.webhookSender.stop();
    await from.models.close();
    const { operationWorker, batchWorker, trainingWorker, evaluationWorker } = from;
    // Parsers outlive it, and would tell them of every document.
    for (const one of [operationWorker, batchWorker, trainingWorker, evaluationWorker]) await one.stop();
    for (const one of [from.reviewWorker, from.rulesWorker, from.lookupWorker]) await one.stop();
    await from.printer.stop();
    await runner.stop();
    await parts.close();
    await rm(dataDir, { recursive: true, force: true });
  };
  const api = client(server.url);
  const { uploadDir, objects, log, sql } = parts;
  /** What was accepted just now may not be in the list of what waits: on a busy machine that takes a moment. */
  const drainAll = async (): Promise<number> => {
    await runner.waitFor((await log.head()) ?? 0n, { timeoutMs: 300_000 });
    return from.operationWorker.drain();
  };
  return {
    ...api,
    routes: apiRoutes,
    deps,
    dataDir,
    uploadDir,
    objects,
    log,
    sql,
    faults,
    openings: () => parts.workers.openings(),
    forgetReplays,
    passMs,
    operations: { ...from.operationWorker, drain: drainAll },
    slots: from.slots,
    webhooks: from.webhookSender,
    signOfLife,
    wait: (ms) => {
      aheadMs += ms;
    },
    batches: from.batchWorker,
    otherBatches: () => batchWorkerOf(from),
    training: from.trainingWorker,
    evaluations: from.evaluationWorker,
    swept: sweptObjects(from),
    stop,
  };
};

let running: Promise<TestApi> | undefined;

const startShared = async (): Promise<TestApi> => {
  const api = await startApi();
  untilProcessEnds(api.stop, () => rmSync(api.dataDir, { recursive: true, force: true }));
  return api;
};

/** One service for all HTTP specs of a process: started by the first that asks, stopped when the process ends. */
export const testApi = (): Promise<TestApi> => (running ??= startShared());
