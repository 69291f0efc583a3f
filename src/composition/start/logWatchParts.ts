import { systemTimers } from '../../../adapters/local/local.ts';
import {
  DIVERGED,
  logWatch,
  type LogWatch,
  ReadModelsDiverged,
} from '../../../projections/engine/divergence.ts';
import type { SqlTx } from '../../../projections/engine/ports.ts';
import { openedLog } from '../../commands/sealing.ts';
import { bind, resolve, type Container } from '../token.ts';
import * as t from '../tokens.ts';

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
const forgetAnswers = (from: Container): void => {
  resolve(from, t.AUTHENTICATOR).flush();
  resolve(from, t.TENANT_LIMITS).flush();
};

/** What this process remembers of read models, and how far they must be: the log is another one. */
const forgetReads = (from: Container): void => {
  forgetAnswers(from);
  resolve(from, t.READS).forget();
};

/** What this process remembers of the log; what contradicts it stays refused until the read models are sound. */
const forgetLog = async (from: Container): Promise<void> => {
  const reference = resolve(from, t.REFERENCE);
  resolve(from, t.ACCOUNTS).forget('what_agrees');
  resolve(from, t.LLM_COSTS).forget('what_agrees');
  reference.forget();
  forgetReads(from);
  const now = resolve(from, t.CLOCK).now();
  await openedLog(resolve(from, t.PARTS).log, now);
  await reference.ensureDefaults(now);
};

/** The watch over the log, and the database as it lets it be read. */
export const bindLogWatch = (container: Container): void => {
  bind(container, t.LOG_WATCH, (from) => {
    const { sql, log } = resolve(from, t.PARTS);
    const logger = resolve(from, t.LOGGER);
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
        resolve(from, t.ACCOUNTS).forget('all');
        resolve(from, t.LLM_COSTS).forget('all');
        // What was written meanwhile stands in the log that is there: reads still wait for it.
        forgetAnswers(from);
        logger.info({ msg: 'the read models are of the event log that is there' });
      },
      onError: (err) => logger.warn({ msg: 'the event log could not be compared with the read models', err }),
    });
  });
  bind(container, t.READ_SQL, (from) =>
    readOnlyWhileSound(resolve(from, t.PARTS).sql, resolve(from, t.LOG_WATCH)),
  );
};
