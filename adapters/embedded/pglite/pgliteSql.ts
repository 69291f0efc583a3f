import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf } from '../../../domain/kernel/failure.ts';
import type { Sql, SqlLock, SqlTx } from '../../../projections/engine/ports.ts';
import { ensureDatabase, markClosed, markOpen, moveAside, reasonToRecreate } from './pgliteFolder.ts';
import type { PgliteThread } from './pgliteThread.ts';
import { PgliteError, startPgliteThread } from './pgliteThread.ts';
import { rowsOf, textOfValue } from './pgliteValues.ts';

/** Embedded Postgres, and whether its data had to be thrown away: then everything in it is rebuilt. */
export interface EmbeddedSql {
  readonly sql: Sql;
  /** Why the data folder was made anew; null when it opened as it was left, or is new. */
  readonly recreated: string | null;
}

const statementsOf = (thread: PgliteThread): SqlTx => ({
  query: async (text, values) => {
    const reply = await thread.call({ kind: 'query', text, values: values?.map(textOfValue) ?? null });
    return rowsOf(reply.fields, reply.rows);
  },
  script: async (text) => {
    await thread.call({ kind: 'script', text });
  },
});

/** Runs work one after another: PGlite has one session, so a transaction must be alone in it. */
const oneAtATime = () => {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work, work);
    last = turn.catch(() => undefined);
    return turn;
  };
};

const inTransaction = async <T>(thread: PgliteThread, work: (tx: SqlTx) => Promise<T>): Promise<T> => {
  await thread.call({ kind: 'query', text: 'begin', values: null });
  let result: T;
  try {
    result = await work(statementsOf(thread));
  } catch (error) {
    await thread.call({ kind: 'query', text: 'rollback', values: null });
    throw error;
  }
  const { tag } = await thread.call({ kind: 'query', text: 'commit', values: null });
  if (tag === 'ROLLBACK') throw new PgliteError('the transaction was aborted by an earlier error', '25P02');
  return result;
};

/** Advisory locks inside the process: PGlite grants its one session every lock. */
const processLocks = () => {
  const held = new Set<bigint>();
  return (key: bigint): SqlLock | undefined => {
    if (held.has(key)) return undefined;
    held.add(key);
    const lost = new Promise<void>(() => undefined);
    return { lost, release: () => Promise.resolve(void held.delete(key)) };
  };
};

const portOn = (thread: PgliteThread, closed: () => Promise<void>): Sql => {
  const alone = oneAtATime();
  const statements = statementsOf(thread);
  const lock = processLocks();
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
    tryLock: (key) => Promise.resolve(lock(key)),
    close: () => (closing ??= alone(close)),
  };
};

const openFolder = async (folder: string): Promise<PgliteThread> => {
  await ensureDatabase(folder);
  await markOpen(folder);
  return startPgliteThread(folder);
};

/**
 * Postgres inside this process, in a thread, with its data in `folder`, or in memory without one.
 * Its transactions run one at a time, and it never syncs to disk: only what can be rebuilt belongs
 * here. A folder that does not open, or that a crash of the machine may have torn, is made anew.
 */
export const pgliteSql = async (folder: string | null): Promise<EmbeddedSql> => {
  if (folder === null) {
    const thread = await startPgliteThread(null);
    return { sql: portOn(thread, () => Promise.resolve()), recreated: null };
  }
  await mkdir(dirname(folder), { recursive: true });
  let recreated = reasonToRecreate(folder);
  if (recreated !== null) await moveAside(folder);
  let thread: PgliteThread;
  try {
    thread = await openFolder(folder);
  } catch (error) {
    recreated = `it did not open: ${messageOf(error)}`;
    await moveAside(folder);
    thread = await openFolder(folder);
  }
  return { sql: portOn(thread, () => markClosed(folder)), recreated };
};
