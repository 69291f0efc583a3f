import { Worker } from 'node:worker_threads';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf, messageOf } from '../../domain/kernel/json.ts';
import { type Sql, type SqlLock, type SqlTx, SqlUnavailable } from '../../projections/engine/ports.ts';
import { oneAtATime, refusal, requireCommitted, rowsOf, STALE_PLAN, textOfValue } from './values.ts';
import type { PgliteReply, PgliteRequest } from './server.ts';
import { ensureDatabase, markClosed, markOpen, moveAside, reasonToRecreate } from './folder.ts';

/** A request without its number. */
type PgliteCall = PgliteRequest extends infer R ? (R extends PgliteRequest ? Omit<R, 'id'> : never) : never;

export interface PgliteThread {
  call(request: PgliteCall): Promise<PgliteReply & { readonly kind: 'done' }>;
  terminate(): Promise<void>;
}

/** Starts a thread that serves PGlite, on a folder or in memory. */
export type StartWorker = (folder: string | null) => Worker;

/** A thread for PGlite alone. */
export const pgliteAlone: StartWorker = (folder) =>
  new Worker(new URL('./pgliteWorker.js', import.meta.url), { workerData: { folder } });

interface Waiting {
  readonly resolve: (reply: PgliteReply & { readonly kind: 'done' }) => void;
  readonly reject: (error: Error) => void;
}

/** Asks PGlite in its thread; rejects when it does not open. */
export const openPgliteThread = async (worker: Worker): Promise<PgliteThread> => {
  const waiting = new Map<number, Waiting>();
  let gone: SqlUnavailable | undefined;
  let calls = 0;

  const stopped = (reason: string) => {
    gone ??= new SqlUnavailable(`embedded Postgres has stopped: ${reason}`);
    for (const { reject } of waiting.values()) reject(gone);
    waiting.clear();
  };
  worker.on('error', (error) => stopped(messageOf(error)));
  worker.on('exit', (code) => stopped(`exit code ${String(code)}`));
  worker.on('message', (reply: PgliteReply) => {
    const caller = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (reply.kind === 'done') caller?.resolve(reply);
    else caller?.reject(refusal(reply.message, reply.code));
  });

  await new Promise((resolve, reject) => waiting.set(0, { resolve, reject }));
  return {
    call: (request) =>
      new Promise((resolve, reject) => {
        if (gone !== undefined) {
          reject(gone);
          return;
        }
        calls += 1;
        waiting.set(calls, { resolve, reject });
        worker.postMessage({ ...request, id: calls });
      }),
    terminate: async () => {
      await worker.terminate();
    },
  };
};

/** Embedded Postgres, and whether its data had to be thrown away: then everything in it is rebuilt. */
export interface EmbeddedSql {
  readonly sql: Sql;
  /** Why the data folder was created again; null if it opened as it was left, or is new. */
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

/** Begun again where its statements were prepared for tables that have other columns now. */
const inTransactionNow = async <T>(thread: PgliteThread, work: (tx: SqlTx) => Promise<T>): Promise<T> => {
  try {
    return await inTransaction(thread, work);
  } catch (error) {
    if (codeOf(error) !== STALE_PLAN) throw error;
    return inTransaction(thread, work);
  }
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
    transaction: (work) => alone(() => inTransactionNow(thread, work)),
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
 * here. A folder that does not open, or that a crash of the machine may have torn, is created again. `start` gives
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
