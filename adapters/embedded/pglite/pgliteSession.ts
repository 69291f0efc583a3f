import { PGlite, protocol } from '@electric-sql/pglite';
import { dataDir } from '@electric-sql/pglite-prepopulatedfs';
import { codeOf } from '../../../domain/kernel/failure.ts';
import type { ResultField, TextRow } from './pgliteValues.ts';
import { oneAtATime } from './turns.ts';

/** What a statement gave. `tag` is the command tag (`SELECT 3`, `ROLLBACK`). */
export interface Result {
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
export interface PgliteSession {
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
      // A view behind a prepared statement was swapped for one with other columns.
      if (!idle || codeOf(error) !== '0A000') throw error;
      await forgetAll();
      return prepared(text, values);
    }
  };
};

/** Opens embedded Postgres in this thread, on `folder` or in memory: while a statement runs, nothing else does. */
export const openPgliteSession = async (folder: string | null): Promise<PgliteSession> => {
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
