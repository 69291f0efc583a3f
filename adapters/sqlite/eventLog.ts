import { execFile, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { chmod, open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { LogNotCopied } from '../../domain/ports/services.ts';
import { messageOf } from '../../domain/kernel/json.ts';
import { type Batch, encodeBatch } from '../../domain/kernel/chain.ts';
import {
  type AppendResult,
  type EventFeed,
  type EventStore,
  type SnapshotStore,
} from '../../domain/ports/log.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import { archivedEvents, type ArchiveSource } from './archive.ts';
import {
  COLUMNS,
  DIGEST_BEFORE,
  commitChannel,
  type EncodedAppend,
  lastPosition,
  openLogFile,
  recorded,
  type SnapshotRow,
  sqliteSnapshots,
  wakeUps,
} from './eventLogFile.ts';
import {
  follow,
  LAST_VISIBLE,
  OWN,
  readBackwards,
  readStream,
  readStreamBack,
  VISIBLE,
} from './eventLogReads.ts';
import type { ThreadAnswer, ThreadMessage } from './eventLogThread.ts';

const CHECK_SCRIPT = fileURLToPath(new URL('./eventLogCheckThread.js', import.meta.url));

/** Findings, in this order. */
export type LogPart =
  | {
      readonly kind: 'facts';
      readonly position: number;
      readonly newest_at: string | null;
      /** Which log the file's header says it is, and which its first event; null: it does not say. */
      readonly log_id: { readonly header: string | null; readonly opened: string | null };
    }
  /** Of SQLite's own check; none: the file is whole. */
  | { readonly kind: 'file'; readonly complaints: readonly string[] }
  | {
      readonly kind: 'chains';
      readonly streams: number;
      readonly events: number;
      /** The first of them, in words. */
      readonly broken: readonly string[];
      readonly breaks: number;
    };

/** The message of the error that a process ended with. */
const messageIn = (text: string): string => /^(?:\w*Error): (.+)$/m.exec(text)?.[1] ?? text.trim();

/**
 * Looks at the embedded log beside the service: the file, and the hash chains of some streams, or `deep` of
 * all. An abort ends it; what was found until then is given.
 */
export const checkEventLog = async (
  path: string,
  { deep, signal }: { readonly deep: boolean; readonly signal: AbortSignal },
): Promise<{
  readonly parts: readonly LogPart[];
  /** Why it ended before it was done; null: it was done. */
  readonly error: string | null;
}> => {
  const child = spawn(process.execPath, [CHECK_SCRIPT, path, deep ? 'deep' : ''], {
    signal,
    killSignal: 'SIGKILL',
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  // An abort is told as an error too; the end follows.
  child.on('error', () => undefined);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  const lines = out.split('\n').slice(0, -1);
  const error = code === 0 ? null : signal.aborted ? 'it was ended' : messageIn(err);
  return { parts: lines.map((line) => JSON.parse(line) as LogPart), error };
};

/** Exit code of the program that copies the log when the disk is full: no code of Node's own. */
export const NO_ROOM = 28;

const COPY_SCRIPT = fileURLToPath(new URL('./eventLogCopyThread.js', import.meta.url));

/** The program ends by a code, and prints what SQLite said; what else ended it says so itself. */
const notCopied = (error: unknown): LogNotCopied => {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  const isFull = error instanceof Error && 'code' in error && error.code === NO_ROOM;
  return new LogNotCopied(said === '' ? String(error) : said, { isFull });
};

/**
 * Copies the embedded log as it is at one moment to the new file `to`, durable when it resolves; the
 * service may go on writing. Only its owner can read the copy. Throws LogNotCopied; nothing writes to `to` then.
 */
export const copyEventLog = async (from: string, to: string, signal: AbortSignal): Promise<void> => {
  const copying = promisify(execFile)(process.execPath, [COPY_SCRIPT, from, to], { signal });
  const ended = new Promise((resolve) => copying.child.once('close', resolve));
  try {
    await copying;
  } catch (error) {
    // An abort is told when the program was told to end: until it has ended it may write.
    if (copying.child.pid !== undefined) await ended;
    signal.throwIfAborted();
    throw notCopied(error);
  }
  await chmod(to, 0o600);
  const handle = await open(to, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

const GROUP_APPENDS_MAX = 2000;
const GROUP_BYTES_MAX = 8 * 1024 * 1024;

interface Waiting extends EncodedAppend {
  readonly bytes: number;
  readonly answer: (result: AppendResult) => void;
}

const CLOSED: AppendResult = { kind: 'unknown', reason: 'the log is closed' };
const UNANSWERED: AppendResult = { kind: 'unknown', reason: 'no result' };

/** How many of those that wait fit into one transaction. */
const groupSize = (waiting: readonly Waiting[]): number => {
  let bytes = 0;
  let size = 0;
  while (size < waiting.length && size < GROUP_APPENDS_MAX && bytes < GROUP_BYTES_MAX) {
    bytes += waiting[size]?.bytes ?? 0;
    size += 1;
  }
  return size;
};

/** The thread that commits, and the group that it has in hand. */
interface Committing {
  readonly thread: Worker;
  /** Resolves when the thread has ended, however it ended. */
  readonly ended: Promise<unknown>;
  waiting: Waiting[];
  inFlight: readonly Waiting[];
  /** Snapshots that the thread has, first come first; told why one was not written. */
  readonly saving: ((unsaved: string | null) => void)[];
  scheduled: boolean;
  closed: boolean;
  onDrained: (() => void) | undefined;
}

const TOLD_EVERY_MS = 10_000;

/** Passes on why groups cannot be committed, at once and then now and then while it stays so; null: they can again. */
const toldNowAndThen = (tell: (reason: string | null) => void) => {
  let last: { readonly reason: string; readonly at: number } | undefined;
  return (results: readonly AppendResult[]): void => {
    const reason = results.find((result) => result.kind === 'unknown')?.reason;
    if (reason === undefined) {
      if (last !== undefined) tell(null);
      last = undefined;
      return;
    }
    const at = performance.now();
    if (last?.reason === reason && at - last.at < TOLD_EVERY_MS) return;
    last = { reason, at };
    tell(reason);
  };
};

/** Hands over what fits; more that comes meanwhile waits for the next group. */
const send = (state: Committing): void => {
  state.scheduled = false;
  if (state.inFlight.length > 0 || state.waiting.length === 0) return;
  const size = groupSize(state.waiting);
  state.inFlight = state.waiting.slice(0, size);
  state.waiting = state.waiting.slice(size);
  const message: ThreadMessage = state.inFlight.map(({ stream, expected, events }) => ({
    stream,
    expected,
    events,
  }));
  state.thread.ref();
  state.thread.postMessage(message);
};

/** Sends at the end of this turn, so that all appends of the turn go together. */
const schedule = (state: Committing): void => {
  if (state.scheduled || state.inFlight.length > 0) return;
  state.scheduled = true;
  setImmediate(send, state);
};

/** A thread without work keeps no process alive. */
const rest = ({ thread, inFlight, saving }: Committing): void => {
  if (inFlight.length === 0 && saving.length === 0) thread.unref();
};

const finishSave = (state: Committing, unsaved: string | null): void => {
  const told = state.saving.shift();
  rest(state);
  told?.(unsaved);
};

const save = (state: Committing, row: SnapshotRow): Promise<void> =>
  new Promise((resolve, reject) => {
    if (state.closed) {
      reject(new Error('the log is closed'));
      return;
    }
    state.saving.push((unsaved) => {
      if (unsaved === null) resolve();
      else reject(new Error(unsaved));
    });
    const message: ThreadMessage = row;
    state.thread.ref();
    state.thread.postMessage(message);
  });

const finish = (state: Committing, results: readonly AppendResult[]): void => {
  const group = state.inFlight;
  state.inFlight = [];
  rest(state);
  // The thread gets its next group first: it commits while the callers are answered.
  send(state);
  group.forEach(({ answer }, index) => answer(results[index] ?? UNANSWERED));
  if (state.inFlight.length === 0) state.onDrained?.();
};

/** The batch of a thread that died may or may not be committed. */
const lose = (state: Committing, reason: string): void => {
  state.closed = true;
  for (const { answer } of [...state.inFlight, ...state.waiting]) answer({ kind: 'unknown', reason });
  [state.inFlight, state.waiting] = [[], []];
  for (const told of state.saving.splice(0)) told(reason);
  state.onDrained?.();
};

const drainAndEnd = async (state: Committing): Promise<void> => {
  state.closed = true;
  if (state.waiting.length + state.inFlight.length > 0)
    await new Promise<void>((resolve) => {
      state.onDrained = resolve;
    });
  const goodbye: ThreadMessage = null;
  state.thread.ref();
  state.thread.postMessage(goodbye);
  await state.ended;
};

/**
 * Writes in a thread of its own, so that a sync of the disk stops no request. One group is in flight at
 * a time, and it is the thread alone that writes: the order of the log is the order of its commits. Appends
 * that wait meanwhile share the next transaction, and its sync.
 */
export const groupWriter = (
  path: string,
  onCommit: () => void,
  onTrouble: (reason: string | null) => void = () => undefined,
): {
  readonly append: (batch: Batch) => Promise<AppendResult>;
  /** Writes a snapshot between two groups. Rejects where it cannot be written. */
  readonly save: (row: SnapshotRow) => Promise<void>;
  /** Commits what waits; later appends are answered `unknown`. */
  readonly close: () => Promise<void>;
} => {
  const tellTrouble = toldNowAndThen(onTrouble);
  const thread = new Worker(new URL('./eventLogThread.js', import.meta.url), { workerData: { path } });
  const ended = new Promise((resolve) => thread.once('exit', resolve));
  const state: Committing = {
    thread,
    ended,
    waiting: [],
    inFlight: [],
    saving: [],
    scheduled: false,
    closed: false,
    onDrained: undefined,
  };
  thread.unref();
  thread.on('message', (answer: ThreadAnswer) => {
    if ('unsaved' in answer) {
      finishSave(state, answer.unsaved);
      return;
    }
    onCommit();
    tellTrouble(answer);
    finish(state, answer);
  });
  thread.on('error', (error) => lose(state, messageOf(error)));

  return {
    append: (batch) => {
      if (state.closed) return Promise.resolve(CLOSED);
      const encoded = encodeBatch(batch);
      if (encoded.kind === 'rejected') return Promise.resolve(encoded);
      const { stream, expected } = batch;
      const { events, bytes } = encoded;
      return new Promise((answer) => {
        state.waiting.push({ stream, expected, events, bytes, answer });
        schedule(state);
      });
    },
    save: (row) => save(state, row),
    close: () => drainAndEnd(state),
  };
};

const POLL_MS = 100;

export interface SqliteEventLogOptions {
  readonly path: string;
  /** For a second process (audit, export) beside the service: reads only, and polls for new events. */
  readonly readOnly?: boolean;
  /** For another thread of the process that writes: reads only, and the writer wakes it. */
  readonly besideWriter?: boolean;
  /** For auditors: a subscription to all, and a stream read forwards, also say how each event lies in the file. */
  readonly stored?: boolean;
  /** Where events are read that were moved into an archive; left out: such a log cannot be read in full. */
  readonly archive?: ArchiveSource | undefined;
  /** Told why appends cannot be committed, as on a full disk; they are answered `unknown`. null: they can again. */
  readonly onTrouble?: (reason: string | null) => void;
}

/** The embedded log: one SQLite file, one writing process, any number of reading ones. */
export type SqliteEventLog = EventStore & EventFeed & { readonly snapshots: SnapshotStore };

/** Opens the log, creating the file unless `readOnly`. Throws when the file is no log of this layout. */
export const openSqliteEventLog = ({
  path,
  besideWriter = false,
  readOnly = besideWriter,
  stored = false,
  archive: source,
  onTrouble,
}: SqliteEventLogOptions): SqliteEventLog => {
  const file = openLogFile(path, readOnly);
  const wake = wakeUps(readOnly && !besideWriter ? POLL_MS : undefined);
  const commits = besideWriter ? commitChannel(path) : undefined;
  if (commits !== undefined) commits.onmessage = wake.all;
  const writer = readOnly ? undefined : groupWriter(path, wake.all, onTrouble);
  const archive = archivedEvents(file, { source, lenient: stored }, stored);
  let closed = false;

  return {
    snapshots: sqliteSnapshots(file, (row) => writer?.save(row) ?? Promise.reject(readingOnly())),
    append: (stream, expected, events) => {
      if (writer === undefined) return Promise.reject(readingOnly());
      return writer.append({ stream, expected, events });
    },
    read: (stream, options = {}) =>
      options.direction === 'backwards'
        ? readStreamBack({ file, archive }, stream, options)
        : readStream({ file, archive, stored }, stream, options),
    subscribe: (options) => follow({ file, archive, wake, options, stored, isClosed: () => closed }),
    backwards: (options) => readBackwards({ file, archive }, options, () => closed),
    // eslint-disable-next-line @typescript-eslint/require-await -- the port is asynchronous, SQLite is not
    head: async () => {
      const position = file.rows(LAST_VISIBLE)[0]?.[0] as number | undefined;
      return position === undefined ? undefined : BigInt(position);
    },
    // eslint-disable-next-line @typescript-eslint/require-await -- as above
    end: async () => {
      const position = lastPosition(file);
      return position === 0 ? undefined : BigInt(position);
    },
    close: async () => {
      if (closed) return;
      closed = true;
      await writer?.close();
      commits?.close();
      wake.all();
      file.close();
    },
  };
};

const readingOnly = (): Error => new Error('the event log is open for reading only');

/** Which of the shares, of how many, and how far the log is read. */
export interface LogShare {
  readonly path: string;
  readonly share: number;
  readonly of: number;
  readonly upTo: bigint;
  /** Categories that every share reads. */
  readonly published: readonly string[];
}

const PAGE = 1000;
const BYTES = 'CAST(metadata AS BLOB)';
/** Canonical metadata ends with the tenant, or with it and a trace of always the same length. */
const HAS_TRACE = `substr(${BYTES}, -73, 15) = CAST(',"traceparent":' AS BLOB)`;
const character = (fromEnd: number): string => `unicode(substr(${BYTES}, -${fromEnd}, 1))`;
/** The last two characters of the tenant, whatever it is: they only part the work, and nothing depends on how well. */
const ROUTE = `CASE WHEN ${HAS_TRACE} THEN 7 * ${character(75)} + ${character(76)}
  ELSE 7 * ${character(3)} + ${character(4)} END`;

/** An event of a share, or one that was published for all. */
export interface SharedRow {
  readonly event: RecordedEvent;
  readonly isOwn: boolean;
  readonly digestBefore: string | null;
}

/** Whether the file has what a share needs: the digest over the log, and all of its events. */
export const hasDigests = (path: string): boolean => {
  const file = openLogFile(path, true);
  try {
    return file.layout === 2;
  } finally {
    file.close();
  }
};

/** The events of a share in the order of the log, by a connection of its own. */
export function* logShare({ path, share, of, upTo, published }: LogShare): Generator<SharedRow, void, void> {
  const file = openLogFile(path, true);
  const names = published.map((name) => `'${name}'`).join(', ');
  const isOwn = `(${ROUTE}) % ${of} = ${share}`;
  const isPublished = `category IN (${names})`;
  // Of unpublished events only own ones are read: most need no second check.
  const sql = `SELECT ${COLUMNS}, category, log_digest, ${DIGEST_BEFORE},
      CASE WHEN ${isPublished} THEN ${isOwn} ELSE 1 END FROM events
    WHERE position > ? AND position <= ? AND (${isOwn} OR ${isPublished}) AND (${OWN} OR ${VISIBLE})
    ORDER BY position LIMIT ${PAGE}`;
  try {
    let after = 0;
    for (;;) {
      const rows = file.rows(sql, after, Number(upTo));
      for (const row of rows)
        yield { event: recorded(row), digestBefore: row[9] as string | null, isOwn: row[10] === 1 };
      if (rows.length < PAGE) return;
      after = rows.at(-1)?.[0] as number;
    }
  } finally {
    file.close();
  }
}
