import { replaceMissing } from '../../projections/engine/waiting.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import { sweeperOf, type Sweeper } from '../writer/sweeper.ts';
import { systemTimers } from '../../adapters/local/local.ts';
import { DIVERGED, logWatch, readOnlyWhileSound } from '../../projections/engine/divergence.ts';
import { openedLog } from '../commands/sealing.ts';
import type { Context, SomeFactories } from './context.ts';
import { abandonedWorkBefore, unrecordedWorkBefore } from '../../projections/usageEvents.ts';
import { guardedObjects } from '../commands/uploads.ts';
import { logModelCall } from '../commands/llmCosts.ts';
import {
  factShelf,
  keptFacts,
  unfinishedSweeper,
  usageLog,
  type KeptFacts,
  type UnfinishedSweeper,
} from '../commands/usageLog.ts';
import { audits, reportAudit } from '../commands/audits.ts';
import { auditInThread } from '../operator/auditInThread.ts';
import { logSealer, type LogSealer } from '../commands/sealing.ts';
import { openLockedObjects } from '../parts/parts.ts';
import type { LockedObjects } from '../../domain/ports/services.ts';
import type { Config } from '../config.ts';

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

/** The watch over the log, and the database as it lets it be read. */
export const logWatchParts = {
  logWatch: (from) => {
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
  },
  readSql: (from) => readOnlyWhileSound(from.parts.sql, from.logWatch),
} satisfies SomeFactories;

const factsOf = (from: Context): KeptFacts => {
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

const unfinishedSweeperOf = (from: Context): UnfinishedSweeper => {
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

/** What work did and the log does not know yet. */
export const unfinishedParts = {
  usageLog: (from) => {
    const reads = from.reads;
    return usageLog({
      store: from.parts.log,
      clock: from.clock,
      wrote: (tenantId, position) => reads.note(tenantId, position),
    });
  },
  facts: factsOf,
  unfinishedSweeper: unfinishedSweeperOf,
} satisfies SomeFactories;

/** As `openLockedObjects`, opened when it is asked for something. */
const lockedLater = (config: Config): LockedObjects => ({
  refusal: async () => (await openLockedObjects(config)).refusal(),
  putLocked: async (...args) => (await openLockedObjects(config)).putLocked(...args),
});

const MINUTE_MS = 60_000;

/** Seals the log by the service itself, where SEAL_EVERY_MINUTES says so. */
export const sealerParts = {
  lockedObjects: (from) => lockedLater(from.config),
  logSealer: (from): LogSealer | null => {
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
  },
} satisfies SomeFactories;

/** Audits beside the work of the service. */
export const auditsParts = {
  audits: (from) => {
    const [{ log: store, objects }, clock] = [from.parts, from.clock];
    return audits({
      run: auditInThread(from.config),
      objects,
      clock,
      tell: reportAudit({ store, clock }),
      onError: (err) => from.logger.warn({ msg: 'how far an audit is could not be kept', err }),
    });
  },
} satisfies SomeFactories;

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
