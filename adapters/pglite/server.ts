import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import type { MessagePort } from 'node:worker_threads';
import { PGlite, protocol } from '@electric-sql/pglite';
import { dataDir } from '@electric-sql/pglite-prepopulatedfs';
import { codeOf, messageOf } from '../../domain/kernel/json.ts';
import type { Sql, SqlLock, SqlTx } from '../../projections/engine/ports.ts';
import {
  oneAtATime,
  refusal,
  requireCommitted,
  type ResultField,
  rowsOf,
  textOfValue,
  type TextRow,
  type Turns,
  STALE_PLAN,
} from './values.ts';

/**
 * A statement's place in a transaction: it waits for the session and keeps it, runs in it, or gives it back.
 * A statement without a place waits for the session and gives it back at once.
 */
type Place = 'begins' | 'within' | 'ends';

/** Requests to the thread of PGlite. */
export type PgliteRequest =
  | {
      readonly id: number;
      readonly kind: 'query';
      readonly text: string;
      readonly values: readonly (string | null)[] | null;
      readonly place?: Place;
    }
  | { readonly id: number; readonly kind: 'script'; readonly text: string; readonly place?: Place }
  /** The tag of the answer is `LOCKED`, or empty where another has the lock. */
  | { readonly id: number; readonly kind: 'lock'; readonly key: bigint }
  | { readonly id: number; readonly kind: 'unlock'; readonly key: bigint }
  | { readonly id: number; readonly kind: 'close' };

/** Its answer. */
export type PgliteReply =
  | ({ readonly id: number; readonly kind: 'done' } & Result)
  | { readonly id: number; readonly kind: 'failed'; readonly message: string; readonly code: string };

const NOTHING: Result = { fields: [], rows: [], tag: '' };

/** The session and its owner. PGlite grants its one session every lock, so locks are kept here. */
interface Served {
  readonly session: PgliteSession;
  readonly alone: Turns;
  readonly locks: Set<bigint>;
}

const takeLock = ({ locks }: Served, key: bigint): boolean => {
  if (locks.has(key)) return false;
  locks.add(key);
  return true;
};

const statement = ({ session }: Served, request: Extract<PgliteRequest, { text: string }>): Promise<Result> =>
  request.kind === 'query'
    ? session.query(request.text, request.values)
    : session.script(request.text).then(() => NOTHING);

/** Waits for the session and keeps it until the function that it gives is called. */
const keptBy = ({ alone }: Served): Promise<() => void> =>
  new Promise((granted) => {
    void alone(() => new Promise<void>((giveBack) => granted(giveBack)));
  });

/** Runs a statement in its turn. A transaction keeps the session from its first statement to its last. */
const inItsTurn = (served: Served) => {
  let giveBack: (() => void) | undefined;

  const begins = async (request: Extract<PgliteRequest, { text: string }>): Promise<Result> => {
    giveBack = await keptBy(served);
    try {
      return await statement(served, request);
    } catch (error) {
      giveBack();
      throw error;
    }
  };

  return async (request: Extract<PgliteRequest, { text: string }>): Promise<Result> => {
    if (request.place === undefined) return served.alone(() => statement(served, request));
    if (request.place === 'begins') return begins(request);
    try {
      return await statement(served, request);
    } finally {
      if (request.place === 'ends') giveBack?.();
    }
  };
};

/** Answers another thread's requests on `port`. `beforeClose` ends what else uses the session. */
const answerOn = (port: MessagePort, served: Served, beforeClose: () => Promise<void>): void => {
  const run = inItsTurn(served);

  const resultFor = async (request: PgliteRequest): Promise<Result> => {
    switch (request.kind) {
      case 'query':
      case 'script':
        return run(request);
      case 'lock':
        return takeLock(served, request.key) ? { ...NOTHING, tag: 'LOCKED' } : NOTHING;
      case 'unlock':
        served.locks.delete(request.key);
        return NOTHING;
      case 'close':
        await beforeClose();
        await served.session.close();
        return NOTHING;
    }
  };

  const answer = async (request: PgliteRequest): Promise<void> => {
    const { id } = request;
    const reply: PgliteReply = await resultFor(request).then(
      (result) => ({ id, kind: 'done', ...result }),
      (error: unknown) => ({ id, kind: 'failed', message: messageOf(error), code: codeOf(error) }),
    );
    port.postMessage(reply);
    if (request.kind === 'close') port.close();
  };
  port.on('message', (request: PgliteRequest) => void answer(request));
  port.postMessage({ id: 0, kind: 'done', ...NOTHING, tag: 'READY' } satisfies PgliteReply);
};

const refused = (error: unknown): never => {
  throw refusal(messageOf(error), codeOf(error));
};

const statementsOf = ({ session }: Served): SqlTx => ({
  query: async (text, values) => {
    const { fields, rows } = await session.query(text, values?.map(textOfValue) ?? null).catch(refused);
    return rowsOf(fields, rows);
  },
  script: (text) => session.script(text).catch(refused),
});

const transaction = async <T>(served: Served, work: (tx: SqlTx) => Promise<T>): Promise<T> => {
  const { session } = served;
  await session.query('begin', null).catch(refused);
  let result: T;
  try {
    result = await work(statementsOf(served));
  } catch (error) {
    await session.query('rollback', null).catch(refused);
    throw error;
  }
  requireCommitted((await session.query('commit', null).catch(refused)).tag);
  return result;
};

/** The session for what runs in its own thread, in turn with those who ask by messages. */
const sqlHere = (served: Served): Sql => {
  const { alone } = served;
  const statements = statementsOf(served);
  const lock = (key: bigint): SqlLock | undefined => {
    if (!takeLock(served, key)) return undefined;
    const lost = new Promise<void>(() => undefined);
    return { lost, release: () => Promise.resolve(void served.locks.delete(key)) };
  };
  return {
    query: (text, values) => alone(() => statements.query(text, values)),
    script: (text) => alone(() => statements.script(text)),
    transaction: async (work) => {
      // A statement holds the thread: messages that came meanwhile are heard between two transactions.
      await nextTurn();
      return alone(() => transaction(served, work));
    },
    tryLock: (key) => Promise.resolve(lock(key)),
    close: () => Promise.resolve(),
  };
};

/**
 * Serves a session to the thread at the other end of `port`, until that closes it. Gives the same session to this
 * thread; `beforeClose` ends whatever uses it here.
 */
export const servePglite = (
  port: MessagePort,
  session: PgliteSession,
  beforeClose: () => Promise<void> = () => Promise.resolve(),
): Sql => {
  const served: Served = { session, alone: oneAtATime(), locks: new Set() };
  answerOn(port, served, beforeClose);
  return sqlHere(served);
};

/** The result of a statement. `tag` is the command tag (`SELECT 3`, `ROLLBACK`). */
interface Result {
  readonly fields: readonly ResultField[];
  readonly rows: readonly TextRow[];
  readonly tag: string;
}

/** The members of backend messages that are read here; the package types them all by name and length. */
interface Message {
  readonly name: string;
  readonly fields?: readonly { readonly name: string; readonly dataTypeID: number }[] | TextRow;
  readonly text?: string;
  readonly status?: string;
}

/**
 * Small for a process that shares its memory. A killed process may lose the last commits, never half of
 * one: read models then catch up from the log. What is promised by its commit turns `synchronous_commit` on for it.
 */
const SETTINGS = [
  'shared_buffers = 16MB',
  'max_wal_size = 64MB',
  'min_wal_size = 32MB',
  'synchronous_commit = off',
];
const STATEMENTS_MAX = 400;
const { serialize } = protocol;

const joined = (parts: readonly Uint8Array[]): Uint8Array => {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
};

const resultOf = (messages: readonly Message[]): Result => {
  let fields: readonly ResultField[] = [];
  const rows: TextRow[] = [];
  let tag = '';
  for (const message of messages) {
    if (message.name === 'rowDescription') {
      const columns = message.fields as readonly { readonly name: string; readonly dataTypeID: number }[];
      fields = columns.map(({ name, dataTypeID }) => ({ name, type: dataTypeID }));
    } else if (message.name === 'dataRow') rows.push(message.fields as TextRow);
    else if (message.name === 'commandComplete') tag = message.text ?? '';
  }
  return { fields, rows, tag };
};

/** Embedded Postgres has one session; its statements run one after another, in the order of the calls. */
interface PgliteSession {
  /** A query without values may be any one statement, and is not kept prepared. */
  readonly query: (text: string, values: readonly (string | null)[] | null) => Promise<Result>;
  readonly script: (text: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** It speaks the wire protocol itself: one round trip a statement, kept prepared by text. */
const sessionOn = (db: PGlite): PgliteSession['query'] => {
  const names = new Map<string, string>();
  let made = 0;
  let status = 'I';

  const run = async (parts: readonly Uint8Array[]): Promise<Result> => {
    const { messages } = await db.execProtocol(joined(parts), { throwOnError: true });
    status =
      (messages as readonly Message[]).findLast(({ name }) => name === 'readyForQuery')?.status ?? status;
    return resultOf(messages);
  };

  const prepared = async (text: string, values: readonly (string | null)[]) => {
    const known = names.get(text);
    const statement = known ?? `q${String((made += 1))}`;
    const reply = await run([
      ...(known === undefined ? [serialize.parse({ name: statement, text })] : []),
      serialize.bind({ statement, values: [...values] }),
      serialize.describe({ type: 'P' }),
      serialize.execute({}),
      serialize.sync(),
    ]);
    if (known === undefined) names.set(text, statement);
    return reply;
  };

  const forgetAll = async () => {
    names.clear();
    await db.exec('deallocate all');
  };

  return async (text, values) => {
    if (values === null) {
      return run([
        serialize.parse({ text }),
        serialize.bind({}),
        serialize.describe({ type: 'P' }),
        serialize.execute({}),
        serialize.sync(),
      ]);
    }
    if (status === 'I' && names.size >= STATEMENTS_MAX) await forgetAll();
    const idle = status === 'I';
    try {
      return await prepared(text, values);
    } catch (error) {
      if (codeOf(error) !== STALE_PLAN) throw error;
      // A view behind a prepared statement was swapped for one with other columns. Within a transaction nothing can be
      // said any more: the next one prepares its statements by other names.
      if (!idle) {
        names.clear();
        throw error;
      }
      await forgetAll();
      return prepared(text, values);
    }
  };
};

/**
 * How long a function of WebAssembly runs, in V8's own measure, until it is compiled once more for speed: ten times as
 * long as V8 has it. What a start alone runs is then not compiled twice, which took a fifth of the start's CPU time.
 */
const RUN_UNTIL_COMPILED = 18_000_000;

/** Opens embedded Postgres in this thread, on `folder` or in memory: while a statement runs, nothing else does. */
export const openPgliteSession = async (folder: string | null): Promise<PgliteSession> => {
  setFlagsFromString(`--wasm-tiering-budget=${String(RUN_UNTIL_COMPILED)}`);
  const db = await PGlite.create({
    postgresqlconf: SETTINGS,
    ...(folder === null ? { dataDir: 'memory://', loadDataDir: await dataDir() } : { dataDir: folder }),
  });
  const query = sessionOn(db);
  const inOrder = oneAtATime();
  return {
    query: (text, values) => inOrder(() => query(text, values)),
    script: (text) =>
      inOrder(async () => {
        await db.exec(text);
      }),
    close: () => inOrder(() => db.close()),
  };
};
