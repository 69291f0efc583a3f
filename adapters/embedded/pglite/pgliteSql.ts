import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf } from '../../../domain/kernel/failure.ts';
import type { Sql, SqlLock, SqlTx } from '../../../projections/engine/ports.ts';
import { ensureDatabase, markClosed, markOpen, moveAside, reasonToRecreate } from './pgliteFolder.ts';
import { requireCommitted } from './pgliteFailure.ts';
import { openPgliteThread, pgliteAlone, type PgliteThread, type StartWorker } from './pgliteThread.ts';
import { rowsOf, textOfValue } from './pgliteValues.ts';
import { oneAtATime } from './turns.ts';

/** Embedded Postgres, and whether its data had to be thrown away: then everything in it is rebuilt. */
export interface EmbeddedSql {
  readonly sql: Sql;
  /** Why the data folder was made anew; null when it opened as it was left, or is new. */
  readonly recreated: string | null;
}

const statementsOf = (thread: PgliteThread, place?: 'within'): SqlTx => ({
  query: async (text, values) => {
    const texts = values?.map(textOfValue) ?? null;
    const reply = await thread.call({ kind: 'query', text, values: texts, ...(place && { place }) });
    return rowsOf(reply.fields, reply.rows);
  },
  script: async (text) => {
    await thread.call({ kind: 'script', text, ...(place && { place }) });
  },
});

const inTransaction = async <T>(thread: PgliteThread, work: (tx: SqlTx) => Promise<T>): Promise<T> => {
  const ends = (text: string) => thread.call({ kind: 'query', text, values: null, place: 'ends' });
  await thread.call({ kind: 'query', text: 'begin', values: null, place: 'begins' });
  let result: T;
  try {
    result = await work(statementsOf(thread, 'within'));
  } catch (error) {
    await ends('rollback');
    throw error;
  }
  requireCommitted((await ends('commit')).tag);
  return result;
};

const lockOn = async (thread: PgliteThread, key: bigint): Promise<SqlLock | undefined> => {
  const { tag } = await thread.call({ kind: 'lock', key });
  if (tag !== 'LOCKED') return undefined;
  const lost = new Promise<void>(() => undefined);
  const release = async () => {
    // A thread that is gone has taken its locks with it.
    await thread.call({ kind: 'unlock', key }).catch(() => undefined);
  };
  return { lost, release };
};

const portOn = (thread: PgliteThread, closed: () => Promise<void>): Sql => {
  const alone = oneAtATime();
  const statements = statementsOf(thread);
  let closing: Promise<void> | undefined;
  const close = async () => {
    await thread.call({ kind: 'close' });
    await closed();
    await thread.terminate();
  };
  return {
    query: (text, values) => alone(() => statements.query(text, values)),
    transaction: (work) => alone(() => inTransaction(thread, work)),
    script: (text) => alone(() => statements.script(text)),
    tryLock: (key) => lockOn(thread, key),
    close: () => (closing ??= alone(close)),
  };
};

const openFolder = async (folder: string, start: StartWorker): Promise<PgliteThread> => {
  await ensureDatabase(folder);
  await markOpen(folder);
  return openPgliteThread(start(folder));
};

/**
 * Postgres inside this process, in a thread, with its data in `folder`, or in memory without one.
 * Its transactions run one at a time, and it never syncs to disk: only what can be rebuilt belongs
 * here. A folder that does not open, or that a crash of the machine may have torn, is made anew. `start` gives
 * it a thread that does other work besides.
 */
export const pgliteSql = async (
  folder: string | null,
  start: StartWorker = pgliteAlone,
): Promise<EmbeddedSql> => {
  if (folder === null) {
    const thread = await openPgliteThread(start(null));
    return { sql: portOn(thread, () => Promise.resolve()), recreated: null };
  }
  await mkdir(dirname(folder), { recursive: true });
  let recreated = reasonToRecreate(folder);
  if (recreated !== null) await moveAside(folder);
  let thread: PgliteThread;
  try {
    thread = await openFolder(folder, start);
  } catch (error) {
    recreated = `it did not open: ${messageOf(error)}`;
    await moveAside(folder);
    thread = await openFolder(folder, start);
  }
  return { sql: portOn(thread, () => markClosed(folder)), recreated };
};
