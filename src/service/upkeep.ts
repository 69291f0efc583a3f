import { systemTimers } from '../../adapters/local/local.ts';
import { expiredHolds } from '../../projections/balances.ts';
import type { ProjectionNotice } from '../../projections/engine/arrivals.ts';
import { DIVERGED, type LogWatch, logWatch, unlessDiverged } from '../../projections/engine/divergence.ts';
import type { ProjectionRunner } from '../../projections/engine/runner.ts';
import { replaceMissing } from '../../projections/engine/waiting.ts';
import { openClaimsBefore, openTransfersBefore } from '../../projections/openClaims.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import { abandonedWorkBefore, unrecordedWorkBefore } from '../../projections/usageEvents.ts';
import { type HoldSweeper, holdSweeper } from '../commands/holds.ts';
import { logModelCall } from '../commands/llmCosts.ts';
import { priceSales } from '../commands/saleRates.ts';
import { type LogSealer, logSealer, openedLog } from '../commands/sealing.ts';
import { guardedObjects } from '../commands/uploads.ts';
import {
  factShelf,
  type KeptFacts,
  keptFacts,
  type UnfinishedSweeper,
  unfinishedSweeper,
} from '../commands/usageLog.ts';
import { NOTICE_LEVELS, runnerInThread, serviceRunner } from '../parts/projecting.ts';
import { projectingAs } from '../parts/stores.ts';
import { tracedBatches } from '../telemetry/tracing.ts';
import { isContradiction } from '../writer/append.ts';
import { UnreadableStream } from '../writer/streamFold.ts';
import { type Sweeper, sweeperOf } from '../writer/sweeper.ts';
import type { Context } from './context.ts';

/** Answers of read models that this process keeps. */
const forgetAnswers = (from: Context): void => {
  from.authenticator.flush();
  from.tenantLimits.flush();
};

/** What this process remembers of read models, and how far they must be: the log is another one. */
const forgetReads = (from: Context): void => {
  forgetAnswers(from);
  from.reads.forget();
};

/** What this process remembers of the log; what contradicts it stays refused until the read models are sound. */
const forgetLog = async (from: Context): Promise<void> => {
  const reference = from.reference;
  from.accounts.forget('what_agrees');
  from.llmCosts.forget('what_agrees');
  reference.forget();
  from.books.forget();
  forgetReads(from);
  const now = from.clock.now();
  await openedLog(from.parts.log, now);
  await reference.ensureDefaults(now);
};

export const logWatchOf = (from: Context): LogWatch => {
  const { sql, log } = from.parts;
  const logger = from.logger;
  return logWatch({
    sql,
    feed: log,
    timers: systemTimers,
    onReplaced: (log_id) => {
      logger.error({
        msg: 'the event log is not the one that it was: what was remembered is dropped',
        log_id,
      });
      return forgetLog(from);
    },
    onDiverged: ({ names, reason, log_id }) => {
      forgetReads(from);
      logger.error({
        msg: 'read models diverged from the event log',
        reason,
        names,
        log_id,
        say: DIVERGED,
      });
    },
    onSettled: () => {
      from.accounts.forget('all');
      from.llmCosts.forget('all');
      // Events written meanwhile are in the present log: reads still wait for them.
      forgetAnswers(from);
      logger.info({ msg: 'the read models are of the event log that is there' });
    },
    onError: (err) => logger.warn({ msg: 'the event log could not be compared with the read models', err }),
  });
};

export const factsOf = (from: Context): KeptFacts => {
  const reference = from.reference;
  const reads = from.reads;
  const logger = from.logger;
  const usage = from.usageLog;
  const logCall = logModelCall({
    llmCosts: from.llmCosts,
    prices: async () => (await reference.modelPrices()).prices,
    clock: from.clock,
    wrote: (tenantId, position) => reads.note(tenantId, position),
  });
  return keptFacts({
    shelf: factShelf(guardedObjects(from.parts.objects)),
    append: (fact) => (fact.kind === 'model_call' ? logCall(fact) : usage.ended(fact)),
    onError: (err) => logger.error({ msg: 'a usage event or a model call has to wait', err }),
  });
};

export const unfinishedSweeperOf = (from: Context): UnfinishedSweeper => {
  const { log, sql } = from.parts;
  const logger = from.logger;
  const count = from.countSwept;
  return unfinishedSweeper({
    facts: from.facts,
    accounts: from.accounts,
    store: log,
    abandonedBefore: abandonedWorkBefore(sql),
    checkLog: () => log.head(),
    unrecordedBefore: unrecordedWorkBefore(sql),
    clock: from.clock,
    onSweep: (report) => {
      count('model_call', 'settled', report.model_calls);
      count('usage_event', 'settled', report.usage_events);
      count('model_call_or_usage_event', 'left', report.left);
      if (report.model_calls + report.usage_events + report.left > 0)
        logger.info({ msg: 'sweep of unfinished work', ...report });
    },
    onError: (err) => logger.error({ msg: 'sweep of unfinished work failed', err }),
  });
};

const MINUTE_MS = 60_000;

/** Seals the log where SEAL_EVERY_MINUTES says so; null elsewhere. */
export const logSealerOf = (from: Context): LogSealer | null => {
  const { seals } = from.config;
  if (seals === undefined) return null;
  const logger = from.logger;
  return logSealer({
    log: from.parts.log,
    locked: from.lockedObjects,
    clock: from.clock,
    everyMs: seals.everyMinutes * MINUTE_MS,
    retainDays: seals.retentionDays ?? null,
    onSeal: ({ seal, object }) =>
      logger.info({ msg: 'sealed', position: seal.position, events: seal.events, object: object?.key }),
    onError: (err) => logger.error({ msg: 'the log could not be sealed', err }),
  });
};

const TABLES_EVERY_MS = 60_000;

/** Looks at start and each minute for tables of read models that were dropped, and has them filled anew. */
export const tableWatch = (from: Context): Sweeper<number> => {
  const logger = from.logger;
  const { sql } = from.parts;
  const look = async (): Promise<number> => {
    const missing = await replaceMissing(sql, READ_MODELS);
    for (const { projector, tables, views } of missing)
      logger.error({ msg: 'tables of a read model were dropped', name: projector.name, tables, views });
    if (missing.length > 0) from.readiness.begunAnew();
    return missing.length;
  };
  const onError = (err: unknown) => logger.warn({ msg: 'tables could not be looked for', err });
  return sweeperOf(look, { everyMs: TABLES_EVERY_MS, onError });
};

const notified = (from: Context): ((notice: ProjectionNotice) => void) => {
  const { onNotice } = from.projectionCounters;
  const logger = from.logger;
  return (notice) => {
    onNotice(notice);
    if (notice.kind === 'diverged' || notice.kind === 'rebuilt') void from.logWatch.check();
    logger[NOTICE_LEVELS[notice.kind]]({ msg: 'projections', ...notice });
  };
};

/** The projections: in the thread of the embedded read models if there is one, otherwise in this one. */
export const runnerOf = (from: Context): ProjectionRunner => {
  const { sql, log: feed, projections } = from.parts;
  const listener = {
    onApplied: tracedBatches(from.projectionCounters.onApplied, from.tracer),
    notify: notified(from),
  };
  return projections === undefined
    ? serviceRunner({ sql, feed }, projectingAs(from.config), listener)
    : runnerInThread(projections, listener);
};

/** A stream that contradicts what was known of it may be of a log that was replaced. */
export const comparedAfter = (from: Context, error: unknown): void => {
  const watch = from.logWatch;
  if (isContradiction(error)) void watch.contradicted();
  else if (error instanceof UnreadableStream) void watch.check();
};

/** Ends holds, claims and transfers that nobody ended. */
export const holdSweeperOf = (from: Context): HoldSweeper => {
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
};
