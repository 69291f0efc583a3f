import { messageOf } from '../../../domain/kernel/failure.ts';
import { categoryOf } from '../../../domain/kernel/batch.ts';
import { LOG_STREAM } from '../../../domain/kernel/ownStreams.ts';
import type { EncodedEvent } from '../../../domain/kernel/batch.ts';
import { LOG_DIGEST_START, logDigestAfter } from '../../../domain/kernel/logDigest.ts';
import type { AppendResult, ExpectedRevision } from '../../../domain/ports/eventStore.ts';
import type { LogFile } from './sqliteEventLogFile.ts';

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

/** Position of the last event, 0 when there is none. */
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

/** After what an earlier release wrote the digest begins anew. */
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
  return memberOf(file.rows(METADATA, stream, Number(expected))[0]?.[0], 'hash') === named;
};

const lastRevision = (file: LogFile, stream: string): number =>
  (file.rows('SELECT coalesce(max(revision), -1) FROM events WHERE stream = ?', stream)[0]?.[0] as
    number | undefined) ?? -1;

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
    ...[stream, expected, events.length],
  );
  if (!events.every(({ id }, index) => rows[index]?.[0] === id)) return undefined;
  const position = rows[events.length - 1]?.[1] as number;
  return { kind: 'appended', revision: BigInt(expected + events.length), position: BigInt(position) };
};
