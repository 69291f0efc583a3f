import { Worker } from 'node:worker_threads';
import { systemTimers } from '../../adapters/local/local.ts';
import {
  DIVERGED,
  logWatch,
  ReadModelsDiverged,
  type LogWatch,
} from '../../projections/engine/divergence.ts';
import type { SqlTx } from '../../projections/engine/ports.ts';
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
import { audits, reportAudit, type RunAudit } from '../commands/audits.ts';
import type { AuditReport } from '../audit/runAudit.ts';
import type { Config } from '../config.ts';
import type { AuditThreadData, AuditThreadMessage } from './auditThread.ts';

/** The read models' database as those read it who answer: nothing comes from rows of another log. */
const readOnlyWhileSound = (sql: SqlTx, watch: Pick<LogWatch, 'diverged'>): SqlTx => {
  const refuse = (): void => {
    const diverged = watch.diverged();
    if (diverged !== undefined) throw new ReadModelsDiverged(diverged);
  };
  return {
    query: async (text, values) => {
      refuse();
      const rows = await sql.query(text, values);
      refuse();
      return rows;
    },
    script: async (text) => {
      refuse();
      await sql.script(text);
    },
  };
};

/** Reports failures of background work; diverged read models are reported once, by the watch. */
export const unlessDiverged =
  (tell: (error: unknown) => void): ((error: unknown) => void) =>
  (error) => {
    if (!(error instanceof ReadModelsDiverged)) tell(error);
  };

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

const sweeperOf = (from: Context): UnfinishedSweeper => {
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
  unfinishedSweeper: sweeperOf,
} satisfies SomeFactories;

/** Time for a cancelled audit to remove its files, ms. */
const GRACE_MS = 5_000;

/**
 * Audits in a thread of its own, which opens the log for reading as the command does: requests meanwhile wait
 * only for the rows of the read models, which an embedded database sends.
 */
const auditInThread =
  ({ dataDir, databaseUrl, eventStoreUrl, s3 }: Config): RunAudit =>
  async ({ log_only, all }, { onProgress, signal }) => {
    signal.throwIfAborted();
    const config = { dataDir, databaseUrl, eventStoreUrl, s3 };
    const workerData: AuditThreadData = { config, log_only, all };
    const thread = new Worker(new URL('./auditThread.js', import.meta.url), { workerData });
    let timer: NodeJS.Timeout | undefined;
    const stop = (): void => {
      thread.postMessage('stop');
      timer = setTimeout(() => void thread.terminate(), GRACE_MS);
    };
    signal.addEventListener('abort', stop, { once: true });
    try {
      return await new Promise<AuditReport>((resolve, reject) => {
        thread.on('message', (message: AuditThreadMessage) => {
          if ('progress' in message) onProgress(message.progress);
          else if ('report' in message) resolve(message.report);
          else reject(new Error(message.failed));
        });
        thread.once('error', reject);
        thread.once('exit', () => reject(new Error('the audit ended without a report')));
      });
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    }
  };

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
