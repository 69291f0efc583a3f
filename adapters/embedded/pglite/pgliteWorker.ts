import { parentPort, workerData } from 'node:worker_threads';
import { PGlite, protocol } from '@electric-sql/pglite';
import { dataDir } from '@electric-sql/pglite-prepopulatedfs';
import { codeOf, messageOf } from '../../../domain/kernel/failure.ts';
import type { ResultField, TextRow } from './pgliteValues.ts';

/** What the worker is asked. A query without values may be any one statement, and is not kept prepared. */
export type PgliteRequest =
  | {
      readonly id: number;
      readonly kind: 'query';
      readonly text: string;
      readonly values: readonly (string | null)[] | null;
    }
  | { readonly id: number; readonly kind: 'script'; readonly text: string }
  | { readonly id: number; readonly kind: 'close' };

/** Its answer. `tag` is the command tag (`SELECT 3`, `ROLLBACK`). */
export type PgliteReply =
  | {
      readonly id: number;
      readonly kind: 'done';
      readonly fields: readonly ResultField[];
      readonly rows: readonly TextRow[];
      readonly tag: string;
    }
  | { readonly id: number; readonly kind: 'failed'; readonly message: string; readonly code: string };

/** The members of backend messages that are read here; the package types them all by name and length. */
interface Message {
  readonly name: string;
  readonly fields?: readonly { readonly name: string; readonly dataTypeID: number }[] | TextRow;
  readonly text?: string;
  readonly status?: string;
}

type Result = Omit<Extract<PgliteReply, { kind: 'done' }>, 'id' | 'kind'>;

/**
 * Small for a process that shares its memory. A killed process may lose the last commits, never half of
 * one: read models then catch up from the log.
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

/** One session. It speaks the wire protocol itself: one round trip a statement, kept prepared by text. */
const session = (db: PGlite) => {
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

  const query = async (text: string, values: readonly (string | null)[] | null) => {
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

  return { query, script: (text: string) => db.exec(text) };
};

const serve = async (): Promise<void> => {
  const port = parentPort;
  if (port === null) throw new Error('pgliteWorker runs as a worker thread');
  const { folder } = workerData as { readonly folder: string | null };
  const db = await PGlite.create({
    postgresqlconf: SETTINGS,
    ...(folder === null ? { dataDir: 'memory://', loadDataDir: await dataDir() } : { dataDir: folder }),
  });
  const { query, script } = session(db);

  const answer = async (request: PgliteRequest): Promise<PgliteReply> => {
    const { id } = request;
    const nothing = { id, kind: 'done', fields: [], rows: [], tag: '' } as const;
    try {
      if (request.kind === 'query')
        return { id, kind: 'done', ...(await query(request.text, request.values)) };
      if (request.kind === 'script') await script(request.text);
      else await db.close();
      return nothing;
    } catch (error) {
      return { id, kind: 'failed', message: messageOf(error), code: codeOf(error) };
    }
  };

  let last: Promise<unknown> = Promise.resolve();
  port.on('message', (request: PgliteRequest) => {
    last = last.then(async () => {
      const reply = await answer(request);
      port.postMessage(reply);
      if (request.kind === 'close') port.close();
    });
  });
  port.postMessage({ id: 0, kind: 'done', fields: [], rows: [], tag: 'READY' } satisfies PgliteReply);
};

await serve();
