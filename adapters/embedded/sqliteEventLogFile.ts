import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'libsql';
import type { RecordedEvent } from '../../domain/ports/eventStore.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';

/** One row of `events`, in the order of `COLUMNS`. */
export type EventRow = readonly [
  position: number,
  stream: string,
  revision: number,
  id: string,
  type: string,
  data: string,
  metadata: string,
];

/** The columns every read selects. */
export const COLUMNS = 'position, stream, revision, id, type, data, metadata';

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
  metadata TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS events_by_stream ON events (stream, revision);
CREATE INDEX IF NOT EXISTS events_by_category ON events (category, position);
`;
const SCHEMA_VERSION = 1;

/** A cache beside the events, by their stream; made where an earlier release made the file. */
const SNAPSHOTS =
  'CREATE TABLE IF NOT EXISTS snapshots (stream TEXT PRIMARY KEY, snapshot TEXT NOT NULL) STRICT';

/** Prepared statements by their text: preparing costs more than most of the reads. */
export interface LogFile {
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
    checkVersion(db, path);
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
  if (userVersion(db) === 0)
    db.exec(`BEGIN IMMEDIATE;${SCHEMA}PRAGMA user_version = ${SCHEMA_VERSION};COMMIT`);
  db.exec(SNAPSHOTS);
};

const userVersion = (db: Connection): unknown => {
  const row = db.prepare('PRAGMA user_version').raw().get() as readonly unknown[];
  return row[0];
};

const checkVersion = (db: Connection, path: string): void => {
  const version = userVersion(db);
  if (version === SCHEMA_VERSION) return;
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

/** A row as an event. JSON is parsed when it is looked at: scans often need only a few members. */
export const recorded = (row: readonly unknown[]): RecordedEvent => {
  const [position, stream, revision, id, type, dataText, metadataText] = row as EventRow;
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

/** SQLite's integers beyond 2^53 never occur here; a larger bound means "beyond the end". */
export const asInteger = (value: bigint): number =>
  value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(value);
