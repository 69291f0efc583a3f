import { gunzipSync, gzipSync } from 'node:zlib';
import { type ArchivedFile, type ArchivedRow, categoriesIn, rowsIn } from '../../domain/eventLog/archive.ts';
import { categoryOf, sha256 } from '../../domain/kernel/chain.ts';
import { isOwn, jsonIn, messageOf } from '../../domain/kernel/json.ts';
import { LogUnavailable } from '../../domain/ports/log.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import { hasArchive, type LogFile, openLogFile, recorded, TO_ARCHIVED_LAYOUT } from './eventLogFile.ts';

/** Bytes of an object by its key; undefined where there is none. Throws where the store cannot be reached. */
export type ArchiveSource = (key: string) => Promise<Uint8Array | undefined>;

/** A file of the archive as it is stored: anybody can read it with zcat. */
export const packArchive = (text: string): Uint8Array => gzipSync(text, { level: 6 });

/** Throws for bytes that are not whole. */
export const unpackArchive = (bytes: Uint8Array): string => gunzipSync(bytes).toString();

/** What can be read of a changed file, for an audit to look at; nothing where it cannot be unpacked. */
const leniently = (bytes: Uint8Array): string => {
  try {
    return unpackArchive(bytes);
  } catch {
    return '';
  }
};

const FILES_KEPT = 6;

interface ReaderOptions {
  readonly source: ArchiveSource | undefined;
  /** For auditors: files that are missing or changed are told of elsewhere, and read as far as they can be. */
  readonly lenient: boolean;
}

const openedFile = async (
  { key, sha256: due }: Pick<ArchivedFile, 'key' | 'sha256'>,
  { source, lenient }: ReaderOptions,
): Promise<readonly ArchivedRow[]> => {
  if (source === undefined)
    throw new LogUnavailable('the log has an archive, and it was opened without the store of objects');
  const bytes = await source(key).catch((error: unknown) => {
    throw new LogUnavailable(`${key} of the archive cannot be read: ${messageOf(error)}`, { cause: error });
  });
  if (bytes !== undefined && sha256(bytes) === due) return rowsIn(unpackArchive(bytes));
  if (lenient) return bytes === undefined ? [] : rowsIn(leniently(bytes));
  const what = bytes === undefined ? 'is not in the store of objects' : 'was changed';
  throw new LogUnavailable(`${key} of the archive ${what}: put it back from a backup, and run quire audit`);
};

const FILE_COLUMNS = 'first_position, last_position, key, sha256, categories';

const fileOf = (row: readonly unknown[] | undefined): ArchivedFile | undefined => {
  if (row === undefined) return undefined;
  const [first, last, key, due, categories] = row as [number, number, string, string, string];
  return { first, last, key, sha256: due, categories: categories.split(' ') };
};

/** A row as an event of the log. `stored`: with how it lies there, for auditors. */
const eventOf = (row: ArchivedRow, stored: boolean): RecordedEvent => {
  const { position, stream, revision, id, type, data, metadata, log_digest } = row;
  const columns = [position, stream, revision, id, type, data, metadata];
  return recorded(stored ? [...columns, categoryOf(stream), log_digest] : columns);
};

/** The events of a log that are in files of its archive. */
export interface ArchivedEvents {
  /** Position of the last of them; 0: there are none. */
  readonly through: () => number;
  /** The file with the first event after a position, or before it; undefined: there is none. */
  readonly fileAfter: (position: number) => ArchivedFile | undefined;
  readonly fileBefore: (position: number) => ArchivedFile | undefined;
  readonly eventsIn: (file: ArchivedFile) => Promise<readonly RecordedEvent[]>;
  /** The first events of a stream from a revision on that one file has; undefined: none are in the archive. */
  readonly streamFrom: (
    stream: string,
    revision: number,
  ) => (() => Promise<readonly RecordedEvent[]>) | undefined;
  /** The same of events up to a revision, the last first. */
  readonly streamUpTo: (
    stream: string,
    revision: number,
  ) => (() => Promise<readonly RecordedEvent[]>) | undefined;
}

const BY_STREAM = `SELECT ${FILE_COLUMNS.replace('last_position', 'archived_files.last_position')}
  FROM archived_streams JOIN archived_files USING (last_position) WHERE stream = ?`;

/** Reads the archive of the log in a file. The last files that were read stay in memory, unpacked. */
export const archivedEvents = (file: LogFile, options: ReaderOptions, stored: boolean): ArchivedEvents => {
  const kept = new Map<string, Promise<readonly ArchivedRow[]>>();
  const rowsOf = (entry: ArchivedFile): Promise<readonly ArchivedRow[]> => {
    const known = kept.get(entry.key) ?? openedFile(entry, options);
    kept.delete(entry.key);
    kept.set(entry.key, known);
    known.catch(() => kept.delete(entry.key));
    const [oldest] = kept.keys();
    if (kept.size > FILES_KEPT && oldest !== undefined) kept.delete(oldest);
    return known;
  };
  const fileBy = (sql: string, ...values: readonly (string | number)[]): ArchivedFile | undefined =>
    hasArchive(file) ? fileOf(file.rows(sql, ...values)[0]) : undefined;
  const eventsOf = async (entry: ArchivedFile, wanted: (row: ArchivedRow) => boolean) =>
    (await rowsOf(entry)).filter(wanted).map((row) => eventOf(row, stored));

  return {
    through: () =>
      hasArchive(file)
        ? Number(file.rows('SELECT coalesce(max(last_position), 0) FROM archived_files')[0]?.[0])
        : 0,
    fileAfter: (position) =>
      fileBy(
        `SELECT ${FILE_COLUMNS} FROM archived_files WHERE last_position > ? ORDER BY last_position LIMIT 1`,
        position,
      ),
    fileBefore: (position) =>
      fileBy(
        `SELECT ${FILE_COLUMNS} FROM archived_files WHERE first_position < ?
          ORDER BY last_position DESC LIMIT 1`,
        position,
      ),
    eventsIn: (entry) => eventsOf(entry, () => true),
    streamFrom: (stream, revision) => {
      const sql = `${BY_STREAM} AND last_revision >= ? ORDER BY last_revision LIMIT 1`;
      const entry = fileBy(sql, stream, revision);
      return entry && (() => eventsOf(entry, (row) => row.stream === stream && row.revision >= revision));
    },
    streamUpTo: (stream, revision) => {
      const sql = `${BY_STREAM} AND first_revision <= ? ORDER BY last_revision DESC LIMIT 1`;
      const entry = fileBy(sql, stream, revision);
      const wanted = (row: ArchivedRow): boolean => row.stream === stream && row.revision <= revision;
      return entry && (async () => (await eventsOf(entry, wanted)).reverse());
    },
  };
};

const ROWS = `SELECT position, stream, revision, id, type, data, metadata, log_digest FROM events
  WHERE position >= ? AND position <= ? ORDER BY position`;

/** The rows that the file of a log has between two positions. */
export const rowsBetween = (file: LogFile, first: number, last: number): readonly ArchivedRow[] =>
  file.rows(ROWS, first, last).map((columns) => {
    const [position, stream, revision, id, type] = columns as [number, string, number, string, string];
    const [data, metadata, log_digest] = columns.slice(5) as [string, string, string | null];
    return { position, stream, revision, id, type, data, metadata, log_digest };
  });

interface StreamPart {
  readonly stream: string;
  readonly first: number;
  readonly last: number;
  readonly hash: string;
}

const hashIn = (metadata: string): string => {
  const read = jsonIn(metadata) as { readonly hash?: unknown } | undefined;
  return typeof read?.hash === 'string' ? read.hash : '';
};

/** What a file has of each stream. Streams about the log itself stay in the log's own file. */
const partsOf = (rows: readonly ArchivedRow[]): readonly StreamPart[] => {
  const parts = new Map<string, { first: number; row: ArchivedRow }>();
  for (const row of rows)
    if (!isOwn(row.stream))
      parts.set(row.stream, { first: parts.get(row.stream)?.first ?? row.revision, row });
  return [...parts].map(([stream, { first, row }]) => ({
    stream,
    first,
    last: row.revision,
    hash: hashIn(row.metadata),
  }));
};

const INSERT_FILE = `INSERT INTO archived_files (${FILE_COLUMNS}) VALUES (?, ?, ?, ?, ?)`;
const INSERT_PART = `INSERT INTO archived_streams (stream, last_revision, first_revision, last_position, hash)
  VALUES (?, ?, ?, ?, ?)`;
const REMOVE = `DELETE FROM events WHERE position >= ? AND position <= ? AND category NOT IN ('$quire', '$seals')`;

/** The file of the archive does not hold what the log does: nothing was removed. */
export class ArchiveDiffers extends Error {
  override readonly name = 'ArchiveDiffers';
}

/**
 * Takes the events that a file of the archive has out of the log's own file, and writes down where they are, in one
 * transaction. Throws ArchiveDiffers unless `rows`, read from the archive, are what the log has.
 */
export const moveOut = (file: LogFile, entry: ArchivedFile, rows: readonly ArchivedRow[]): void => {
  const { first, last, key, sha256: due } = entry;
  file.exec('BEGIN IMMEDIATE');
  try {
    if (JSON.stringify(rowsBetween(file, first, last)) !== JSON.stringify(rows))
      throw new ArchiveDiffers(`${key} does not hold the events of positions ${first} to ${last}.`);
    file.exec(TO_ARCHIVED_LAYOUT);
    file.run(INSERT_FILE, first, last, key, due, categoriesIn(rows).join(' '));
    for (const part of partsOf(rows))
      file.run(INSERT_PART, part.stream, part.last, part.first, last, part.hash);
    file.run(REMOVE, first, last);
    file.exec('COMMIT');
  } catch (error) {
    file.exec('ROLLBACK');
    throw error;
  }
};

/** What the tables of the log's file say of a file of the archive and do not have from it; undefined: nothing. */
const indexFlaw = (file: LogFile, entry: ArchivedFile, rows: readonly ArchivedRow[]): string | undefined => {
  const sql = `SELECT ${FILE_COLUMNS} FROM archived_files WHERE last_position = ?`;
  const known = fileOf(file.rows(sql, entry.last)[0]);
  if (known === undefined) return undefined;
  if (
    JSON.stringify([known.key, known.sha256, known.first]) !==
    JSON.stringify([entry.key, entry.sha256, entry.first])
  )
    return 'the table archived_files of the log names another file in its place';
  const found = file.rows(
    'SELECT stream, first_revision, last_revision, hash FROM archived_streams WHERE last_position = ? ORDER BY stream',
    entry.last,
  );
  const due = partsOf(rows).map(({ stream, first, last, hash }) => [stream, first, last, hash]);
  const sorted = due.sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
  return JSON.stringify(found) === JSON.stringify(sorted)
    ? undefined
    : 'the table archived_streams of the log does not say which streams are in it';
};

/** Opens the tables of the log at a path that say where its archived events are, to compare them with the files. */
export const archiveIndex = (path: string) => {
  const file = openLogFile(path, true);
  return {
    /** Position of the last event that was taken out of the log's own file. */
    through: (): number => archivedEvents(file, { source: undefined, lenient: false }, false).through(),
    /** Keys of the files that these events are in. */
    keys: (): readonly string[] =>
      hasArchive(file) ? file.rows('SELECT key FROM archived_files').map(([key]) => String(key)) : [],
    flawOf: (entry: ArchivedFile, bytes: Uint8Array): string | undefined =>
      hasArchive(file) ? indexFlaw(file, entry, rowsIn(leniently(bytes))) : undefined,
    close: (): void => file.close(),
  };
};
