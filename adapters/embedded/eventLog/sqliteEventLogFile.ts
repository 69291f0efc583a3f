import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'libsql';
import type { RecordedEvent, StoredForm } from '../../../domain/ports/eventStore.ts';
import type { JsonObject } from '../../../domain/kernel/json.ts';
import { plainMetadata } from '../../../domain/eventLog/plainMetadata.ts';

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
];

/** The columns every read selects. */
export const COLUMNS = 'position, stream, revision, id, type, data, metadata';

/** What an auditor reads besides. */
export const storedColumns = ({ layout }: Pick<LogFile, 'layout'>): string =>
  `${COLUMNS}, category, ${layout === 1 ? 'NULL' : 'log_digest'}`;

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

/** Layout 1 has no digest over the whole log. Its rows stay as they are; those written from now on have one. */
const FROM_LAYOUT_1 = 'ALTER TABLE events ADD COLUMN log_digest TEXT;';
/** Layouts that can be read. */
const READABLE: readonly unknown[] = [1, SCHEMA_VERSION];

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

/** A log of an earlier layout is brought forward by whoever writes it; auditors read it as it is. */
const checkVersion = (db: Connection, path: string, readOnly: boolean): void => {
  const version = userVersion(db);
  if (version === SCHEMA_VERSION || (readOnly && READABLE.includes(version))) return;
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
    // What is no JSON any more is told to whoever looks at it.
    return Object.defineProperty(parsedLater(event), 'stored', { value: storedForm(event) });
  }
};

const storedForm = (
  [, , , , , data, metadata, category = '', log_digest = null]: EventRow,
  covered?: string,
): StoredForm => ({ category, data, metadata, covered, log_digest });

/** SQLite's integers beyond 2^53 never occur here; a larger bound means "beyond the end". */
export const asInteger = (value: bigint): number =>
  value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(value);
