import { randomBytes } from 'node:crypto';
import 'reflect-metadata';
import { container as root, type DependencyContainer, type InjectionToken } from 'tsyringe';
import type { Logger } from 'pino';
import { openModelProviders } from '@quire/engine/models/modelProviders';
import type { Registry } from 'prom-client';
import { NO_TRACER, type Clock, type TextVault, type Tracer } from '../../domain/ports/log.ts';
import type { ExtractDeps } from '../commands/extract.ts';
import type { Config } from '../config.ts';
import type { Parts } from './parts.ts';
import type { ProjectionNotice } from '../../projections/engine/arrivals.ts';
import type { ProjectionRunner } from '../../projections/engine/runner.ts';
import { appliedBy, calledBy, telemetryParts } from './telemetry.ts';
import { contextOf, type Context, type SomeFactories } from './context.ts';
import { projectingAs, secretBoxOf, vaultOf } from './stores.ts';
import { runnerInThread, serviceRunner } from './projecting.ts';
import { systemClock } from '../../adapters/local/local.ts';
import { replayStore, replicas, usedOnce } from '../../adapters/sqlTables.ts';
import { knownAt } from '../../domain/eventLog/eventLog.ts';
import { isThere, seenEvents } from '../../domain/eventLog/witness.ts';
import { isWellFormedKey } from '../../domain/apiKey.ts';
import { expiredHolds } from '../../projections/balances.ts';
import { salesBookedAt, salesWithoutRate } from '../../projections/grants.ts';
import { openClaimsBefore, openTransfersBefore } from '../../projections/openClaims.ts';
import { accountWriter } from '../writer/accountWriter.ts';
import { booksCommands } from '../commands/money/books.ts';
import {
  apiKeys,
  billingDetailsCommands,
  rateLimitCommands,
  retentionCommands,
  topUpCommands,
} from '../commands/apiKeys.ts';
import { paperPrinter } from './printing.ts';
import { heavySlots, type HeavySlots } from '../commands/slots.ts';
import { recentFailures } from '../commands/countPages.ts';
import { OVERRUN_KEPT_MS } from '../commands/workProblem.ts';
import { holdSweeper } from '../commands/holds.ts';
import { priceSales } from '../commands/saleRates.ts';
import { llmCosts } from '../commands/llmCosts.ts';
import { payments } from '../commands/money/payments.ts';
import { guardedObjects } from '../commands/uploads.ts';
import { savedConfigs } from '../commands/savedConfigs.ts';
import { referenceData } from '../commands/reference.ts';
import { isContradiction } from '../writer/append.ts';
import { UnreadableStream } from '../writer/streamFold.ts';
import { sealedReplays } from '../server/idempotency.ts';
import { authenticator, confirmedKeys } from '../server/keys.ts';
import { readYourWrites, queriesOn } from '../queries/queries.ts';
import { bucketsInUse, limitsScope, tenantLimits } from '../server/limits.ts';
import { countedAccounts, observedLog } from '../telemetry/businessMetrics.ts';
import { watchedDocuments } from '../telemetry/processMetrics.ts';
import { apiDeps, webhooksParts } from './api.ts';
import { logWatchParts, unlessDiverged, unfinishedParts, auditsParts } from './upkeep.ts';
import { batchesParts, evaluationsParts, operationsParts, trainingParts } from './work.ts';
import { sealerParts } from './seals.ts';
import { uploadsParts } from './uploads.ts';
import { EXTRACT_DEADLINES_MS } from './documents.ts';
import { heavyGauges, heavyRefusals, writerHooks } from './metrics.ts';

/** A name for a part that carries the part's type. */
interface Token<T> {
  readonly key: InjectionToken<T>;
  readonly name: string;
}

const token = <T>(name: string): Token<T> => ({ key: Symbol(name), name });

/** Where parts are bound. A new one per process and per test, never the global one. */
type Container = DependencyContainer;

const newContainer = (): Container => root.createChildContainer();

/** Binds a part. */
const bind = <T>(container: Container, { key }: Token<T>, part: T): void => {
  container.register(key, { useFactory: () => part });
};

const resolve = <T>(container: Container, { key }: Token<T>): T => container.resolve<T>(key);

// What differs from one environment to another.
const CONFIG = token<Config>('configuration');
/** Log, database, objects, limits and workers, as they were opened. */
const OPENED = token<Parts>('opened parts');
const LOGGER = token<Logger>('logger');
const TRACER = token<Tracer>('tracer');
const CLOCK = token<Clock>('clock');
const EXTRACT_DEADLINES = token<ExtractDeps['deadlineMs']>('deadlines of extraction by mode, ms');

/** How loudly the projections' notices are logged. */
const LEVELS = {
  batch: 'debug',
  started: 'info',
  promoted: 'info',
  aside: 'warn',
  evicted: 'warn',
  unknown_types: 'warn',
  diverged: 'error',
  rebuilt: 'info',
  dropped: 'warn',
  failed: 'error',
  stopped: 'error',
} as const;

const notified = (from: Context): ((notice: ProjectionNotice) => void) => {
  const { onNotice } = from.projectionCounters;
  const logger = from.logger;
  return (notice) => {
    onNotice(notice);
    if (notice.kind === 'diverged' || notice.kind === 'rebuilt') void from.logWatch.check();
    const level = LEVELS[notice.kind];
    logger[level]({ msg: 'projections', ...notice });
  };
};

/** The projections: in the thread of the embedded read models if there is one, otherwise in this one. */
const runnerOf = (from: Context): ProjectionRunner => {
  const { sql, log: feed, projections } = from.parts;
  const listener = { onApplied: appliedBy(from), notify: notified(from) };
  return projections === undefined
    ? serviceRunner({ sql, feed }, projectingAs(from.config), listener)
    : runnerInThread(projections, listener);
};

const nowMs = () => Date.now();

const heavySlotsOf = (from: Context): HeavySlots => {
  const registry = from.registry;
  const slots = heavySlots(from.config.heavyConcurrency, heavyRefusals(registry));
  heavyGauges(registry, slots);
  return slots;
};

/** A stream that contradicts what was known of it may be of a log that was replaced. */
const comparedAfter = (from: Context, error: unknown): void => {
  const watch = from.logWatch;
  if (isContradiction(error)) void watch.contradicted();
  else if (error instanceof UnreadableStream) void watch.check();
};

const accountsOf = (from: Context) => {
  const register = from.registry;
  const { log: store, snapshots } = from.parts;
  const onError = (error: unknown): void => comparedAfter(from, error);
  const hooks = { ...writerHooks(register, from.logger), onError };
  return countedAccounts(accountWriter({ store, snapshots, hooks }), register);
};

const commandParts = {
  accounts: accountsOf,
  payments: (from) =>
    payments({
      store: from.parts.log,
      writer: from.accounts,
      clock: from.clock,
      onDoubleClaim: (stream) => from.logger.error({ msg: 'two tenants hold one payment', stream }),
    }),
  reference: (from) => referenceData({ store: from.parts.log }),
  books: (from) =>
    booksCommands({
      store: from.parts.log,
      queries: from.queries,
      waitFor: (position, options) => from.runner.waitFor(position, options),
    }),
  apiKeys: (from) => apiKeys({ store: from.parts.log, writer: from.accounts }),
  llmCosts: (from) => {
    const onError = (error: unknown): void => comparedAfter(from, error);
    return llmCosts(from.parts.log, {}, { onError });
  },
  rateLimits: (from) => rateLimitCommands(from.parts.log),
  topUps: (from) => topUpCommands(from.parts.log),
  billingDetails: (from) => billingDetailsCommands(from.parts.log),
  printer: () => paperPrinter(),
  retention: (from) => retentionCommands(from.parts.log, from.config.retention),
  secretBox: (from) => secretBoxOf(from.config, from.parts.folderKey),
  savedConfigs: (from) => {
    const { log, objects } = from.parts;
    // The interface has 503 for own keys in saved configs until the operator has given a key.
    const box = secretBoxOf(from.config);
    return savedConfigs({ store: log, objects: guardedObjects(objects), box });
  },
  models: (from) =>
    openModelProviders({
      allowPrivateNetwork: from.config.allowPrivateNetwork,
      onCall: calledBy(from),
    }),
  slots: (from) => heavySlotsOf(from),
  overruns: () => recentFailures(() => performance.now(), OVERRUN_KEPT_MS),
  saleRates: (from) => ({
    reference: from.reference,
    accounts: from.accounts,
    clock: from.clock,
    salesWithoutRate: salesWithoutRate(from.readSql),
    salesBookedAt: salesBookedAt(from.readSql),
    note: (tenantId, position) => from.reads.note(tenantId, position),
  }),
  sweeper: (from) => {
    const sql = from.readSql;
    const logger = from.logger;
    const count = from.countSwept;
    return holdSweeper({
      writer: from.accounts,
      payments: from.payments,
      clock: from.clock,
      openHoldsBefore: expiredHolds(sql),
      openClaimsBefore: openClaimsBefore(sql),
      openTransfersBefore: openTransfersBefore(sql),
      priceSales: priceSales(from.saleRates),
      onSweep: (report) => {
        count('hold', 'settled', report.released);
        count('claim', 'settled', report.finished);
        count('transfer', 'settled', report.arrived);
        count('sale_rate', 'settled', report.priced);
        count('hold_or_claim', 'left', report.left);
        if (Object.values(report).some((n) => n > 0)) logger.info({ msg: 'sweep', ...report });
      },
      onError: unlessDiverged((err) => logger.error({ msg: 'sweep failed', err })),
    });
  },
} satisfies SomeFactories;

const readParts = {
  runner: runnerOf,
  queries: (from) => queriesOn(from.readSql),
  reads: (from) => readYourWrites(from.runner),
  replicas: (from) => replicas(from.parts.sql),
  usedOnce: (from) => usedOnce(from.parts.sql, nowMs),
  replays: (from) => {
    const { sql, log } = from.parts;
    const store = replayStore(sql, nowMs, {
      losses: () => log.seen?.losses() ?? 0,
      known: () => log.seen?.all() ?? [],
      has: async (event) => isThere(event, await knownAt(log, event, (found) => isThere(event, found))),
    });
    return log.vault === undefined ? store : sealedReplays(store, log.vault);
  },
  bucketsInUse: () => bucketsInUse(() => performance.now()),
  tenantLimits: (from) =>
    tenantLimits({
      lookup: async (tenantId) => {
        const behind = await from.reads.settle(limitsScope(tenantId));
        if (behind !== undefined) throw new Error('the read models are behind');
        return from.queries.rateLimitsOfTenant(tenantId);
      },
      nowMs: () => performance.now(),
      onError: unlessDiverged((err) => from.logger.warn({ msg: 'rate limits cannot be looked up', err })),
    }),
  authenticator: (from) =>
    authenticator({
      lookup: confirmedKeys({
        lookup: from.queries.apiKeyByHash,
        stateOf: (keyId) => from.apiKeys.stateOf(keyId),
      }),
      isWellFormed: isWellFormedKey,
      adminKey: from.config.adminApiKey,
      nowMs,
      monotonicMs: () => performance.now(),
    }),
} satisfies SomeFactories;

/** Where this process tells what it does, and what specs put in the place of what runs on time. */
interface Outside {
  readonly logger: Logger;
  readonly tracer?: Tracer;
  readonly clock?: Clock;
  /** Of extraction by mode, ms. */
  readonly extractDeadlines?: ExtractDeps['deadlineMs'];
}

/** Binds what differs from one environment to another. A new container per process and per test. */
const environment = (config: Config, parts: Parts, outside: Outside): Container => {
  const container = newContainer();
  bind(container, CONFIG, config);
  bind(container, OPENED, parts);
  bind(container, LOGGER, outside.logger);
  bind(container, TRACER, outside.tracer ?? NO_TRACER);
  bind(container, CLOCK, outside.clock ?? systemClock());
  bind(container, EXTRACT_DEADLINES, outside.extractDeadlines ?? EXTRACT_DEADLINES_MS);
  return container;
};

/** Parts whose log and document work are counted and traced. */
const observedParts = (
  parts: Parts,
  observers: { readonly register: Registry; readonly tracer: Tracer; readonly vault: TextVault },
): Parts => {
  const { parser, localEngine } = parts.workers;
  const log = observedLog(parts.log, { ...observers, seen: seenEvents(() => parts.log.epoch?.() ?? 0) });
  return {
    ...parts,
    log: { ...log, vault: observers.vault },
    workers: { ...parts.workers, ...watchedDocuments({ parser, localEngine }, observers) },
  };
};

const environmentParts = (container: Container) =>
  ({
    config: () => resolve(container, CONFIG),
    parts: (from) =>
      observedParts(resolve(container, OPENED), {
        register: from.registry,
        tracer: from.tracer,
        vault: vaultOf(from.config, resolve(container, OPENED), (err) =>
          from.logger.error({ msg: 'texts cannot be read', err }),
        ),
      }),
    logger: () => resolve(container, LOGGER),
    tracer: () => resolve(container, TRACER),
    clock: () => resolve(container, CLOCK),
    extractDeadlines: () => resolve(container, EXTRACT_DEADLINES),
  }) satisfies SomeFactories;

/** Everything over parts that are open already. A new one per process and per test. */
export const contextOver = (config: Config, parts: Parts, outside: Outside): Context =>
  contextOf({
    ...environmentParts(environment(config, parts, outside)),
    ...telemetryParts,
    ...commandParts,
    ...trainingParts,
    ...operationsParts,
    ...webhooksParts,
    ...batchesParts,
    ...evaluationsParts,
    ...uploadsParts,
    ...logWatchParts,
    ...unfinishedParts,
    ...sealerParts,
    ...auditsParts,
    ...readParts,
    api: (from) => apiDeps(from, (count) => randomBytes(count)),
  });
