import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { BroadcastChannel } from 'node:worker_threads';
import Database from 'libsql';
import { type JsonObject, LOG_STREAM, messageOf } from '../../domain/kernel/json.ts';
import {
  categoryOf,
  type EncodedEvent,
  LOG_DIGEST_START,
  logDigestAfter,
  snapshotFromJson,
  snapshotToJson,
} from '../../domain/kernel/chain.ts';
import { type AppendResult, SNAPSHOT_BYTES_MAX, type SnapshotStore } from '../../domain/ports/log.ts';
import type { ExpectedRevision, RecordedEvent, StoredForm } from '../../domain/kernel/recorded.ts';
import { plainMetadata } from '../../domain/plainEvents.ts';

/** An append that was checked and encoded, and waits for its place in the log. */
export interface EncodedAppend {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly events: readonly EncodedEvent[];
}

/**
 * One transaction for the group, hence one sync of the disk; results come only after the commit. A
 * failure rolls all back, but after a failed commit nobody can tell from here what the disk holds: every
 * append is then `unknown`.
 */
export const commitGroup = (file: LogFile, group: readonly EncodedAppend[]): readonly AppendResult[] => {
  try {
    file.exec('BEGIN IMMEDIATE');
    const writing: Writing = { file, isForeign: isForeign(file), ...lastEvent(file) };
    const results = group.map((append) => place(writing, append));
    file.exec('COMMIT');
    return results;
  } catch (error) {
    rollBack(file);
    return group.map(() => ({ kind: 'unknown', reason: messageOf(error) }));
  }
};

const rollBack = (file: LogFile): void => {
  try {
    file.exec('ROLLBACK');
  } catch {
    // No transaction was open: BEGIN itself failed, or SQLite has rolled back already.
  }
};

/** Position of the last event; 0 if there is none. */
export const lastPosition = (file: LogFile): number =>
  (file.rows('SELECT coalesce(max(position), 0) FROM events')[0]?.[0] as number | undefined) ?? 0;

interface Writing {
  readonly file: LogFile;
  /** Somebody else has written to the file: what callers read need not be what it has now. */
  readonly isForeign: boolean;
  /** Position of the last event written. */
  position: number;
  /** The digest over the log up to there. */
  digest: string;
}

const versions = new WeakMap<LogFile, unknown>();
const foreign = new WeakSet<LogFile>();

/** SQLite counts what other connections write. One process writes a log: another copy was put in its place. */
const isForeign = (file: LogFile): boolean => {
  const version = file.rows('PRAGMA data_version')[0]?.[0];
  if (versions.has(file) && versions.get(file) !== version) foreign.add(file);
  versions.set(file, version);
  return foreign.has(file);
};

const LAST = 'SELECT position, log_digest FROM events ORDER BY position DESC LIMIT 1';

/** After events of an earlier release the digest begins again. */
const lastEvent = (file: LogFile): Pick<Writing, 'position' | 'digest'> => {
  const [position, digest] = file.rows(LAST)[0] ?? [0, null];
  return { position: position as number, digest: (digest as string | null) ?? LOG_DIGEST_START };
};

const place = (writing: Writing, waiting: EncodedAppend): AppendResult => {
  const current = lastRevision(writing.file, waiting.stream);
  const expected = waiting.expected === 'no_stream' ? -1 : Number(waiting.expected);
  if (current === expected && followsLast(writing, waiting)) return write(writing, waiting, current);
  const earlier = current > expected ? earlierWrite(writing.file, waiting, expected) : undefined;
  return earlier ?? { kind: 'conflict', actual: current < 0 ? 'no_stream' : BigInt(current) };
};

const METADATA = 'SELECT metadata FROM events WHERE stream = ? AND revision = ?';

const memberOf = (metadata: unknown, name: 'hash' | 'prev_hash'): unknown =>
  typeof metadata === 'string'
    ? (JSON.parse(metadata) as Readonly<Record<string, unknown>>)[name]
    : undefined;

/** Whether a batch goes on after the very event that stands before it; looked at only in a file with other writers. */
const followsLast = (
  { file, isForeign: isOther }: Writing,
  { stream, expected, events }: EncodedAppend,
): boolean => {
  const named = isOther && expected !== 'no_stream' ? memberOf(events[0]?.metadata, 'prev_hash') : undefined;
  if (typeof named !== 'string') return true;
  const last = file.rows(METADATA, stream, Number(expected))[0]?.[0];
  return (last === undefined ? archivedEnd(file, stream)?.hash : memberOf(last, 'hash')) === named;
};

const lastRevision = (file: LogFile, stream: string): number => {
  const sql = 'SELECT coalesce(max(revision), -1) FROM events WHERE stream = ?';
  const last = (file.rows(sql, stream)[0]?.[0] as number | undefined) ?? -1;
  return last < 0 ? (archivedEnd(file, stream)?.revision ?? -1) : last;
};

const withArchive = new WeakSet<LogFile>();

/** Whether events were moved out of the file into an archive; another process may have done it since it was opened. */
export const hasArchive = (file: LogFile): boolean => {
  if (withArchive.has(file)) return true;
  if (file.rows('PRAGMA user_version')[0]?.[0] !== ARCHIVED_LAYOUT) return false;
  withArchive.add(file);
  return true;
};

/** The last event of a stream that is in the archive: its revision and hash; undefined: none is. */
const archivedEnd = (file: LogFile, stream: string) => {
  if (!hasArchive(file)) return undefined;
  const sql = `SELECT last_revision, hash FROM archived_streams WHERE stream = ?
    ORDER BY last_revision DESC LIMIT 1`;
  const [revision, hash] = file.rows(sql, stream)[0] ?? [];
  return revision === undefined ? undefined : { revision: revision as number, hash: hash as string };
};

const INSERT = `INSERT INTO events (position, stream, revision, category, id, type, data, metadata, log_digest)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** The log's name, also where a tool finds it that reads the file alone. */
const NAME_LOG = `INSERT OR IGNORE INTO header (name, value)
  SELECT 'log_id', json_extract(?1, '$.log_id') WHERE json_extract(?1, '$.log_id') IS NOT NULL`;

const write = (writing: Writing, { stream, events }: EncodedAppend, current: number): AppendResult => {
  const category = categoryOf(stream);
  let revision = current;
  for (const { id, type, data, metadata, hash } of events) {
    revision += 1;
    writing.position += 1;
    writing.digest = logDigestAfter(writing.digest, writing.position, hash);
    const place = [writing.position, stream, revision, category] as const;
    writing.file.run(INSERT, ...place, id, type, data, metadata, writing.digest);
    if (stream === LOG_STREAM && revision === 0) writing.file.run(NAME_LOG, data);
  }
  return { kind: 'appended', revision: BigInt(revision), position: BigInt(writing.position) };
};

/**
 * The same batch at the same revision was written before: its original place. As on the server, every
 * ID of the batch must stand at its own revision; a batch that goes on past the end is a conflict.
 */
const earlierWrite = (file: LogFile, waiting: EncodedAppend, expected: number): AppendResult | undefined => {
  const { stream, events } = waiting;
  const rows = file.rows(
    'SELECT id, position FROM events WHERE stream = ? AND revision > ? ORDER BY revision LIMIT ?',
    stream,
    expected,
    events.length,
  );
  if (!events.every(({ id }, index) => rows[index]?.[0] === id)) return undefined;
  const position = rows[events.length - 1]?.[1] as number;
  return { kind: 'appended', revision: BigInt(expected + events.length), position: BigInt(position) };
};

/** One row of `events`, in the order of `COLUMNS`. */
type EventRow = readonly [
  position: number,
  stream: string,
  revision: number,
  id: string,
  type: string,
  data: string,
  metadata: string,
  category?: string,
  log_digest?: string | null,
  digest_before?: string | null,
];

/** The columns every read selects. */
export const COLUMNS = 'position, stream, revision, id, type, data, metadata';

/** Further columns for an auditor. */
export const storedColumns = ({ layout }: Pick<LogFile, 'layout'>): string =>
  `${COLUMNS}, category, ${layout === 1 ? 'NULL' : 'log_digest'}`;

/** The digest over the log up to the event before; null before the first, and where that one was moved out. */
export const DIGEST_BEFORE =
  '(SELECT log_digest FROM events AS before WHERE before.position = events.position - 1)';

/** The layout of the file; auditors read it with any SQLite tool. */
const SCHEMA = `
CREATE TABLE IF NOT EXISTS events (
  position INTEGER PRIMARY KEY,
  stream TEXT NOT NULL,
  revision INTEGER NOT NULL,
  category TEXT NOT NULL,
  id TEXT NOT NULL,
  type TEXT NOT NULL,
  data TEXT NOT NULL,
  metadata TEXT NOT NULL,
  log_digest TEXT
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS events_by_stream ON events (stream, revision);
CREATE INDEX IF NOT EXISTS events_by_category ON events (category, position);
`;
const SCHEMA_VERSION = 2;

/** Layout 2, and some of the events are in an archive: an earlier release would take their streams for new ones. */
const ARCHIVED_LAYOUT = 3;

/** Where the events are that were moved out: by file, and by stream the first and last of each file. */
export const TO_ARCHIVED_LAYOUT = `
CREATE TABLE IF NOT EXISTS archived_files (
  last_position INTEGER PRIMARY KEY,
  first_position INTEGER NOT NULL,
  key TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  categories TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS archived_streams (
  stream TEXT NOT NULL,
  last_revision INTEGER NOT NULL,
  first_revision INTEGER NOT NULL,
  last_position INTEGER NOT NULL,
  hash TEXT NOT NULL,
  PRIMARY KEY (stream, last_revision)
) STRICT, WITHOUT ROWID;
PRAGMA user_version = ${ARCHIVED_LAYOUT};`;

/** Layout 1 has no digest over the whole log. Its rows stay as they are; those written from now on have one. */
const FROM_LAYOUT_1 = 'ALTER TABLE events ADD COLUMN log_digest TEXT;';
/** Layouts that can be read. */
const READABLE: readonly unknown[] = [1, SCHEMA_VERSION, ARCHIVED_LAYOUT];

/** What the file says of itself: `log_id`, as the first event of `$quire` has it. */
const HEADER = 'CREATE TABLE IF NOT EXISTS header (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;';

/** A cache beside the events, by their stream; made where an earlier release made the file. */
const SNAPSHOTS =
  'CREATE TABLE IF NOT EXISTS snapshots (stream TEXT PRIMARY KEY, snapshot TEXT NOT NULL) STRICT';

/** Prepared statements by their text: preparing costs more than most of the reads. */
export interface LogFile {
  /** Version of the file's tables. */
  readonly layout: number;
  readonly exec: (sql: string) => void;
  readonly rows: (sql: string, ...values: readonly (string | number)[]) => readonly (readonly unknown[])[];
  readonly run: (sql: string, ...values: readonly (string | number)[]) => void;
  readonly close: () => void;
}

/** Opens or creates the file, durable before a commit returns. */
export const openLogFile = (path: string, readOnly: boolean): LogFile => {
  if (readOnly && !existsSync(path)) throw new Error(`there is no event log at ${path}`);
  if (!readOnly) mkdirSync(dirname(path), { recursive: true });

  const db = new Database(path);
  db.exec('PRAGMA busy_timeout = 2000');
  try {
    if (readOnly) db.exec('PRAGMA query_only = ON');
    else prepareForWriting(db);
    checkVersion(db, path, readOnly);
  } catch (error) {
    db.close();
    throw error;
  }
  return withCache(db);
};

type Connection = InstanceType<typeof Database>;

const prepareForWriting = (db: Connection): void => {
  db.exec('PRAGMA journal_mode = WAL');
  db.exec('PRAGMA synchronous = FULL');
  db.exec('PRAGMA wal_autocheckpoint = 4000');
  bringForward(db);
  // A file of an older release gets it when it is opened first.
  if (!hasHeader(db)) db.exec(HEADER);
  db.exec(SNAPSHOTS);
};

const hasHeader = (db: Connection): boolean =>
  db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'header'").raw().get() !== undefined;

const bringForward = (db: Connection): void => {
  const version = userVersion(db);
  if (version !== 0 && version !== 1) return;
  const change = version === 0 ? SCHEMA : FROM_LAYOUT_1;
  db.exec(`BEGIN IMMEDIATE;${change}PRAGMA user_version = ${SCHEMA_VERSION};COMMIT`);
};

const userVersion = (db: Connection): number => {
  const row = db.prepare('PRAGMA user_version').raw().get() as readonly unknown[];
  return Number(row[0]);
};

/** The writer upgrades a log of an earlier layout; auditors read it as it is. */
const checkVersion = (db: Connection, path: string, readOnly: boolean): void => {
  const version = userVersion(db);
  if (READABLE.includes(version) && (readOnly || version !== 1)) return;
  throw new Error(`${path} has layout ${String(version)}; this release reads ${SCHEMA_VERSION}`);
};

const withCache = (db: Connection): LogFile => {
  const reads = new Map<string, ReturnType<Connection['prepare']>>();
  const writes = new Map<string, ReturnType<Connection['prepare']>>();
  const cached = (cache: typeof reads, sql: string) => {
    const known = cache.get(sql);
    if (known !== undefined) return known;
    const statement = db.prepare(sql);
    cache.set(sql, statement);
    return statement;
  };
  return {
    layout: userVersion(db),
    exec: (sql) => void db.exec(sql),
    rows: (sql, ...values) => {
      const fresh = !reads.has(sql);
      const statement = cached(reads, sql);
      if (fresh) statement.raw();
      return statement.all(...values) as (readonly unknown[])[];
    },
    run: (sql, ...values) => void cached(writes, sql).run(...values),
    close: () => {
      reads.clear();
      writes.clear();
      db.close();
    },
  };
};

/** Which log the file says it is; null where an older release made it, and none has named it yet. */
export const headerLogId = (file: LogFile): string | null => {
  if (file.rows("SELECT 1 FROM sqlite_master WHERE name = 'header'").length === 0) return null;
  const id = file.rows("SELECT value FROM header WHERE name = 'log_id'")[0]?.[0];
  return typeof id === 'string' ? id : null;
};

/** Which log a file says it is, opened for this alone. */
export const headerLogIdOf = (path: string): string | null => {
  const file = openLogFile(path, true);
  try {
    return headerLogId(file);
  } finally {
    file.close();
  }
};

/** JSON is parsed when it is looked at: scans often need only a few members. */
const parsedLater = ([
  position,
  stream,
  revision,
  id,
  type,
  dataText,
  metadataText,
]: EventRow): RecordedEvent => {
  let data: JsonObject | undefined;
  let metadata: JsonObject | undefined;
  return {
    id,
    type,
    stream,
    revision: BigInt(revision),
    position: BigInt(position),
    get data() {
      return (data ??= JSON.parse(dataText) as JsonObject);
    },
    get metadata() {
      return (metadata ??= JSON.parse(metadataText) as JsonObject);
    },
  };
};

/** Auditors look at all of it, and two functions an event would cost them as much as the parsing. */
const parsedNow = (row: EventRow): RecordedEvent => {
  const [position, stream, revision, id, type, data, metadata] = row;
  const plain = plainMetadata(metadata);
  return {
    id,
    type,
    stream,
    revision: BigInt(revision),
    position: BigInt(position),
    data: JSON.parse(data) as JsonObject,
    metadata: plain?.metadata ?? (JSON.parse(metadata) as JsonObject),
    stored: storedForm(row, plain?.covered),
  };
};

/** A row as an event. */
export const recorded = (row: readonly unknown[]): RecordedEvent => {
  const event = row as EventRow;
  if (event[7] === undefined) return parsedLater(event);
  try {
    return parsedNow(event);
  } catch {
    // Readers report content that is no longer JSON.
    return Object.defineProperty(parsedLater(event), 'stored', { value: storedForm(event) });
  }
};

const storedForm = (
  [, , , , , data, metadata, category = '', log_digest = null, digest_before]: EventRow,
  covered?: string,
): StoredForm => ({ category, data, metadata, covered, log_digest, digest_before });

/** SQLite's integers beyond 2^53 never occur here; a larger bound means "beyond the end". */
export const asInteger = (value: bigint): number =>
  value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(value);

/** How the thread that writes a log tells the other threads of its process of each commit. */
export const commitChannel = (path: string): BroadcastChannel => {
  const channel = new BroadcastChannel(`quire commits ${resolve(path)}`);
  // Who only listens keeps no process alive.
  channel.unref();
  return channel;
};

export type WakeUps = ReturnType<typeof wakeUps>;

/**
 * Wakes the subscriptions that wait at the end of the log. `pollMs` is for a reader whose writer is another
 * process; without it nothing wakes but `all`.
 */
export const wakeUps = (pollMs: number | undefined) => {
  const sleepers = new Set<() => void>();
  let count = 0;

  /** Resolves at the next `all` after `seen`, when `signal` aborts, or after the poll interval. */
  const next = (seen: number, signal: AbortSignal | undefined): Promise<void> => {
    if (count !== seen || signal?.aborted === true) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        sleepers.delete(wake);
        clearTimeout(timer);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const timer = pollMs === undefined ? undefined : setTimeout(wake, pollMs);
      sleepers.add(wake);
      signal?.addEventListener('abort', wake, { once: true });
    });
  };

  return {
    /** How often `all` was called: read it before looking at the log, hand it to `next`. */
    count: () => count,
    all: (): void => {
      count += 1;
      for (const wake of [...sleepers]) wake();
    },
    next,
  };
};

/** A snapshot as the thread that writes gets it. */
export interface SnapshotRow {
  readonly stream: string;
  readonly snapshot: string;
}

const LOAD = 'SELECT snapshot FROM snapshots WHERE stream = ?';
const SAVE = `INSERT INTO snapshots (stream, snapshot) VALUES (?, ?)
  ON CONFLICT (stream) DO UPDATE SET snapshot = excluded.snapshot`;

/** Written without a sync of its own: a loss of power may take it, and the next append syncs it too. */
export const writeSnapshot = (file: LogFile, { stream, snapshot }: SnapshotRow): void => {
  file.exec('PRAGMA synchronous = NORMAL');
  try {
    file.run(SAVE, stream, snapshot);
  } finally {
    file.exec('PRAGMA synchronous = FULL');
  }
};

/** Snapshots in the file of the log. The thread that appends writes them too: the file has one writer. */
export const sqliteSnapshots = (
  file: LogFile,
  write: (row: SnapshotRow) => Promise<void>,
): SnapshotStore => ({
  // eslint-disable-next-line @typescript-eslint/require-await -- the port is asynchronous, SQLite is not
  load: async (stream) => {
    const text = file.rows(LOAD, stream)[0]?.[0];
    return typeof text === 'string' ? snapshotFromJson(JSON.parse(text)) : undefined;
  },
  save: async (snapshot) => {
    const text = JSON.stringify(snapshotToJson(snapshot));
    if (Buffer.byteLength(text) > SNAPSHOT_BYTES_MAX) return 'too_large';
    await write({ stream: snapshot.stream, snapshot: text });
    return 'saved';
  },
});
