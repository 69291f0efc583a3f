import { systemTimers } from '../../../adapters/local/local.ts';
import {
  DIVERGED,
  logWatch,
  type LogWatch,
  ReadModelsDiverged,
} from '../../../projections/engine/divergence.ts';
import type { SqlTx } from '../../../projections/engine/ports.ts';
import { openedLog } from '../../commands/sealing.ts';
import type { Context, SomeFactories } from '../context.ts';

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

/** What background work tells of its failures: that read models diverged is told once, by the watch. */
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
        // What was written meanwhile stands in the log that is there: reads still wait for it.
        forgetAnswers(from);
        logger.info({ msg: 'the read models are of the event log that is there' });
      },
      onError: (err) => logger.warn({ msg: 'the event log could not be compared with the read models', err }),
    });
  },
  readSql: (from) => readOnlyWhileSound(from.parts.sql, from.logWatch),
} satisfies SomeFactories;
