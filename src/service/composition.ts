import { randomBytes } from 'node:crypto';
import 'reflect-metadata';
import { container as root, instanceCachingFactory } from 'tsyringe';
import type { Logger } from 'pino';
import { openModelProviders } from '@quire/engine/models/modelProviders';
import { systemClock } from '../../adapters/local/local.ts';
import { replayStore, replicas, usedOnce } from '../../adapters/sqlTables.ts';
import { isWellFormedKey } from '../../domain/apiKey.ts';
import { knownAt } from '../../domain/eventLog/eventLog.ts';
import { isThere, seenEvents } from '../../domain/kernel/witness.ts';
import { type Clock, NO_TRACER, type Tracer } from '../../domain/ports/log.ts';
import type { ReplayStore } from '../../domain/ports/services.ts';
import { readOnlyWhileSound, unlessDiverged } from '../../projections/engine/divergence.ts';
import { modelLags } from '../../projections/engine/lag.ts';
import { salesBookedAt, salesWithoutRate } from '../../projections/grants.ts';
import { healthOf } from '../api/health.ts';
import {
  apiKeys,
  billingDetailsCommands,
  rateLimitCommands,
  retentionCommands,
  topUpCommands,
} from '../commands/apiKeys.ts';
import { audits, reportAudit, reportDrift } from '../commands/audits.ts';
import { recentFailures } from '../commands/countPages.ts';
import type { ExtractDeps } from '../commands/extract.ts';
import { llmCosts } from '../commands/llmCosts.ts';
import { booksCommands } from '../commands/money/books.ts';
import { payments } from '../commands/money/payments.ts';
import { referenceData } from '../commands/reference.ts';
import { savedConfigs } from '../commands/savedConfigs.ts';
import { bytesInFlight, type HeavySlots, heavySlots, takenRoom } from '../commands/slots.ts';
import { documents, guardedObjects } from '../commands/uploads.ts';
import { usageLog } from '../commands/usageLog.ts';
import { OVERRUN_KEPT_MS } from '../commands/workProblem.ts';
import type { Config } from '../config.ts';
import { auditInThread } from '../operator/auditInThread.ts';
import { EXTRACT_DEADLINES_MS } from '../parts/documents.ts';
import { lockedLater, type Parts } from '../parts/parts.ts';
import { lookupWorker, paperPrinter, reviewWorker, rulesWorker } from '../parts/threads.ts';
import { secretBoxOf, vaultOf } from '../parts/stores.ts';
import { queriesOn, readYourWrites } from '../queries/queries.ts';
import { sealedReplays } from '../server/idempotency.ts';
import { type Authenticator, authenticator, confirmedKeys } from '../server/keys.ts';
import { bucketsInUse, limitsScope, type TenantLimits, tenantLimits } from '../server/limits.ts';
import {
  countedAccounts,
  observedLog,
  projectionCounters,
  sweeperMetrics,
  STATUS_EVERY_MS,
} from '../telemetry/businessMetrics.ts';
import { pulled, watchedDocuments } from '../telemetry/processMetrics.ts';
import {
  heavyGauges,
  waitingGauges,
  heavyRefusals,
  providerMetrics,
  tracedCalls,
  writerHooks,
  unkeptResults,
} from '../telemetry/workMetrics.ts';
import { VERSION } from '../version.ts';
import { objectSweeper } from '../worker/sweeping.ts';
import { type AccountWriter, accountWriter } from '../writer/accountWriter.ts';
import { apiDeps, webhookSenderOf } from './api.ts';
import type { Context, Factories } from './context.ts';
import { driftCheckOf, newRegistry, readinessOf } from './telemetry.ts';
import { sweptObjects } from './uploads.ts';
import {
  comparedAfter,
  factsOf,
  holdSweeperOf,
  logSealerOf,
  logWatchOf,
  runnerOf,
  unfinishedSweeperOf,
} from './upkeep.ts';
import { batchWorkerOf, evaluationWorkerOf, operationWorkerOf, trainerOf, trainingWorkerOf } from './work.ts';

/** What differs from one environment to another, and what specs put in the place of what runs on time. */
interface Outside {
  readonly logger: Logger;
  readonly tracer?: Tracer;
  readonly clock?: Clock;
  /** Of extraction by mode, ms. */
  readonly extractDeadlines?: ExtractDeps['deadlineMs'];
}

/** Parts whose log and document work are counted and traced. */
const observedParts = (from: Context, opened: Parts): Parts => {
  const { parser, localEngine } = opened.workers;
  const vault = vaultOf(from.config, opened, (err) =>
    from.logger.error({ msg: 'texts cannot be read', err }),
  );
  const observers = { register: from.registry, tracer: from.tracer };
  const seen = seenEvents(() => opened.log.epoch?.() ?? 0);
  return {
    ...opened,
    log: { ...observedLog(opened.log, { ...observers, seen }), vault },
    workers: { ...opened.workers, ...watchedDocuments({ parser, localEngine }, observers) },
  };
};

const environmentOf = (
  config: Config,
  opened: Parts,
  { logger, tracer = NO_TRACER, clock = systemClock(), extractDeadlines = EXTRACT_DEADLINES_MS }: Outside,
) =>
  ({
    config: () => config,
    parts: (from) => observedParts(from, opened),
    logger: () => logger,
    tracer: () => tracer,
    clock: () => clock,
    extractDeadlines: () => extractDeadlines,
  }) satisfies Partial<Factories>;

const nowMs = () => Date.now();
const monotonicMs = () => performance.now();

const accountsOf = (from: Context): AccountWriter => {
  const register = from.registry;
  const { log: store, snapshots } = from.parts;
  const onError = (error: unknown): void => comparedAfter(from, error);
  const hooks = { ...writerHooks(register, from.logger), onError };
  return countedAccounts(accountWriter({ store, snapshots, hooks }), register);
};

const slotsOf = ({ registry, config }: Context): HeavySlots => {
  const slots = heavySlots(config.heavyConcurrency, heavyRefusals(registry));
  heavyGauges(registry, slots);
  return slots;
};

/** A caller who waits costs a look at the log each second; files are counted as the processes have time for them. */
const QUEUED_PER_PLACE = 8;

const queueSlotsOf = ({ registry, config }: Context): Context['queueSlots'] => {
  const max = QUEUED_PER_PLACE * config.heavyConcurrency;
  const waiting = heavySlots(max);
  waitingGauges(registry, waiting);
  return { accepting: heavySlots(max), waiting };
};

const replaysOf = ({ parts: { sql, log } }: Context): ReplayStore => {
  const store = replayStore(sql, nowMs, {
    losses: () => log.seen?.losses() ?? 0,
    known: () => log.seen?.all() ?? [],
    has: async (event) => isThere(event, await knownAt(log, event, (found) => isThere(event, found))),
  });
  return log.vault === undefined ? store : sealedReplays(store, log.vault);
};

const tenantLimitsOf = (from: Context): TenantLimits =>
  tenantLimits({
    lookup: async (tenantId) => {
      const behind = await from.reads.settle(limitsScope(tenantId));
      if (behind !== undefined) throw new Error('the read models are behind');
      return from.queries.rateLimitsOfTenant(tenantId);
    },
    nowMs: monotonicMs,
    onError: unlessDiverged((err) => from.logger.warn({ msg: 'rate limits cannot be looked up', err })),
  });

const authenticatorOf = (from: Context): Authenticator =>
  authenticator({
    lookup: confirmedKeys({
      lookup: from.queries.apiKeyByHash,
      stateOf: (keyId) => from.apiKeys.stateOf(keyId),
    }),
    isWellFormed: isWellFormedKey,
    adminKey: from.config.adminApiKey,
    nowMs,
    monotonicMs,
  });

/** A tenant may send this many files of the largest size at once. */
const FILES_IN_FLIGHT = 4;

/** The service, part by part. A part may ask for any other; `Context` says what each one is. */
const PARTS = {
  // What is seen from outside.
  registry: newRegistry,
  providerMetrics: (from) => providerMetrics(from.registry),
  projectionCounters: (from) => projectionCounters(from.registry),
  countSwept: (from) => sweeperMetrics(from.registry),
  lags: ({ parts: { sql, log: feed }, clock }) =>
    pulled(() => modelLags({ sql, feed, nowMs: () => Date.parse(clock.now()) }), {
      everyMs: STATUS_EVERY_MS,
    }),
  health: (from) =>
    healthOf(from.parts, { runner: from.runner, watch: from.logWatch, lags: from.lags }, VERSION),
  readiness: readinessOf,
  driftCheck: driftCheckOf,

  // The log, and the read models that follow it.
  logWatch: logWatchOf,
  readSql: (from) => readOnlyWhileSound(from.parts.sql, from.logWatch),
  runner: runnerOf,
  reads: (from) => readYourWrites(from.runner),
  queries: (from) => queriesOn(from.readSql, from.parts.log.vault?.texts),
  replicas: (from) => replicas(from.parts.sql),
  usedOnce: (from) => usedOnce(from.parts.sql, nowMs),
  replays: replaysOf,
  lockedObjects: (from) => lockedLater(from.config),
  logSealer: logSealerOf,
  audits: (from) =>
    audits({
      run: auditInThread(from.config),
      objects: from.parts.objects,
      clock: from.clock,
      tell: reportAudit({ store: from.parts.log, clock: from.clock }),
      onError: (err) => from.logger.warn({ msg: 'how far an audit is could not be kept', err }),
    }),
  reportDrift: (from) => reportDrift({ store: from.parts.log, clock: from.clock }),

  // Money.
  accounts: accountsOf,
  payments: (from) =>
    payments({
      store: from.parts.log,
      writer: from.accounts,
      clock: from.clock,
      onDoubleClaim: (stream) => from.logger.error({ msg: 'two tenants hold one payment', stream }),
    }),
  reference: (from) => referenceData({ store: from.parts.log }),
  saleRates: (from) => ({
    reference: from.reference,
    accounts: from.accounts,
    clock: from.clock,
    salesWithoutRate: salesWithoutRate(from.readSql),
    salesBookedAt: salesBookedAt(from.readSql),
    note: (tenantId, position) => from.reads.note(tenantId, position),
  }),
  books: (from) =>
    booksCommands({
      store: from.parts.log,
      queries: from.queries,
      waitFor: (position, options) => from.runner.waitFor(position, options),
    }),
  llmCosts: (from) => llmCosts(from.parts.log, {}, { onError: (error) => comparedAfter(from, error) }),
  sweeper: holdSweeperOf,

  // Tenants.
  apiKeys: (from) => apiKeys({ store: from.parts.log, writer: from.accounts }),
  authenticator: authenticatorOf,
  rateLimits: (from) => rateLimitCommands(from.parts.log),
  tenantLimits: tenantLimitsOf,
  bucketsInUse: () => bucketsInUse(monotonicMs),
  topUps: (from) => topUpCommands(from.parts.log),
  billingDetails: (from) => billingDetailsCommands(from.parts.log),
  printer: () => paperPrinter(),
  retention: (from) => retentionCommands(from.parts.log, from.config.retention),
  secretBox: (from) => secretBoxOf(from.config, from.parts.folderKey),
  savedConfigs: (from) =>
    savedConfigs({
      store: from.parts.log,
      objects: guardedObjects(from.parts.objects),
      // The interface has 503 for own keys in saved configs until the operator has given a key.
      box: secretBoxOf(from.config),
    }),
  webhookSender: webhookSenderOf,

  // Documents, and the work on them.
  documents: (from) => documents(from.parts.log),
  inFlight: (from) => bytesInFlight(FILES_IN_FLIGHT * from.config.maxUploadBytes),
  objectSweeper: (from) => objectSweeper(sweptObjects(from)),
  models: (from) =>
    openModelProviders({
      allowPrivateNetwork: from.config.allowPrivateNetwork,
      onCall: tracedCalls(from.providerMetrics, from.tracer),
    }),
  slots: slotsOf,
  queueSlots: queueSlotsOf,
  overruns: () => recentFailures(monotonicMs, OVERRUN_KEPT_MS),
  unkeptResults: (from) => unkeptResults(from.registry, from.logger),
  usageLog: (from) =>
    usageLog({
      store: from.parts.log,
      clock: from.clock,
      wrote: (tenantId, position) => from.reads.note(tenantId, position),
    }),
  facts: factsOf,
  unfinishedSweeper: unfinishedSweeperOf,
  operationRoom: () => takenRoom(),
  operationWorker: operationWorkerOf,
  batchWorker: batchWorkerOf,
  evaluationWorker: evaluationWorkerOf,
  reviewWorker: () => reviewWorker(),
  rulesWorker: () => rulesWorker(),
  lookupWorker: () => lookupWorker(),
  trainer: trainerOf,
  trainingWorker: trainingWorkerOf,

  // The dependencies of the routes.
  api: (from) => apiDeps(from, (count) => randomBytes(count)),
} satisfies Partial<Factories>;

/**
 * The service over parts that are open already. A container of its own for each process and each test makes every
 * part once, when it is first asked for.
 */
export const contextOver = (config: Config, opened: Parts, outside: Outside): Context => {
  const container = root.createChildContainer();
  const factories: Factories = { ...environmentOf(config, opened, outside), ...PARTS };
  const context = {} as Context;
  for (const name of Object.keys(factories) as (keyof Context)[]) {
    container.register(name, { useFactory: instanceCachingFactory(() => factories[name](context)) });
    Object.defineProperty(context, name, { get: () => container.resolve<unknown>(name), enumerable: true });
  }
  return context;
};
