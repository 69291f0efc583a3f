import { categoryOf, encodeBatch } from '../../domain/kernel/batch.ts';
import type { Batch, EncodedEvent } from '../../domain/kernel/batch.ts';
import type { AppendResult, ExpectedRevision } from '../../domain/ports/eventStore.ts';
import type { LogFile } from './sqliteEventLogFile.ts';

const GROUP_APPENDS_MAX = 2000;
const GROUP_BYTES_MAX = 8 * 1024 * 1024;

interface Waiting {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly events: readonly EncodedEvent[];
  readonly bytes: number;
  readonly answer: (result: AppendResult) => void;
}

/** Appends of one turn of the event loop share a transaction, hence one sync of the disk. */
export interface GroupWriter {
  append(batch: Batch): Promise<AppendResult>;
  /** Commits what waits; later appends are answered `unknown`. */
  close(): void;
}

export const groupWriter = (file: LogFile, onCommit: () => void): GroupWriter => {
  let waiting: Waiting[] = [];
  let scheduled = false;
  let closed = false;

  const drain = () => {
    scheduled = false;
    const size = groupSize(waiting);
    const group = waiting.slice(0, size);
    waiting = waiting.slice(size);
    if (waiting.length > 0) schedule();
    if (commitGroup(file, group)) onCommit();
  };
  const schedule = () => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(drain);
  };

  return {
    append: (batch) => {
      if (closed) return Promise.resolve({ kind: 'unknown', reason: 'the log is closed' });
      const encoded = encodeBatch(batch);
      if (encoded.kind === 'rejected') return Promise.resolve(encoded);
      const { stream, expected } = batch;
      const { events, bytes } = encoded;
      return new Promise((answer) => {
        waiting.push({ stream, expected, events, bytes, answer });
        schedule();
      });
    },
    close: () => {
      closed = true;
      while (waiting.length > 0) drain();
    },
  };
};

const groupSize = (waiting: readonly Waiting[]): number => {
  let bytes = 0;
  let size = 0;
  while (size < waiting.length && size < GROUP_APPENDS_MAX && bytes < GROUP_BYTES_MAX) {
    bytes += waiting[size]?.bytes ?? 0;
    size += 1;
  }
  return size;
};

/**
 * One transaction for the group; answers only after the commit. A failure rolls all back, but after a
 * failed commit nobody can tell from here what the disk holds: every caller hears `unknown`. True when
 * something was written.
 */
const commitGroup = (file: LogFile, group: readonly Waiting[]): boolean => {
  if (group.length === 0) return false;
  try {
    file.exec('BEGIN IMMEDIATE');
    const before = lastPosition(file);
    const writing: Writing = { file, position: before };
    const results = group.map((waiting) => place(writing, waiting));
    file.exec('COMMIT');
    group.forEach(({ answer }, index) => answer(results[index] ?? UNANSWERED));
    return writing.position > before;
  } catch (error) {
    rollBack(file);
    const reason = error instanceof Error ? error.message : String(error);
    for (const { answer } of group) answer({ kind: 'unknown', reason });
    return false;
  }
};

const UNANSWERED: AppendResult = { kind: 'unknown', reason: 'no result' };

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
  /** Position of the last event written. */
  position: number;
}

const place = (writing: Writing, waiting: Waiting): AppendResult => {
  const current = lastRevision(writing.file, waiting.stream);
  const expected = waiting.expected === 'no_stream' ? -1 : Number(waiting.expected);
  if (current === expected) return write(writing, waiting, current);
  const earlier = current > expected ? earlierWrite(writing.file, waiting, expected) : undefined;
  return earlier ?? { kind: 'conflict', actual: current < 0 ? 'no_stream' : BigInt(current) };
};

const lastRevision = (file: LogFile, stream: string): number =>
  (file.rows('SELECT coalesce(max(revision), -1) FROM events WHERE stream = ?', stream)[0]?.[0] as
    number | undefined) ?? -1;

const INSERT = `INSERT INTO events (position, stream, revision, category, id, type, data, metadata)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;

const write = (writing: Writing, { stream, events }: Waiting, current: number): AppendResult => {
  const category = categoryOf(stream);
  let revision = current;
  for (const { id, type, data, metadata } of events) {
    revision += 1;
    writing.position += 1;
    writing.file.run(INSERT, writing.position, stream, revision, category, id, type, data, metadata);
  }
  return { kind: 'appended', revision: BigInt(revision), position: BigInt(writing.position) };
};

/**
 * The same batch at the same revision was written before: its original place. As on the server, every
 * ID of the batch must stand at its own revision; a batch that goes on past the end is a conflict.
 */
const earlierWrite = (file: LogFile, waiting: Waiting, expected: number): AppendResult | undefined => {
  const { stream, events } = waiting;
  const rows = file.rows(
    'SELECT id, position FROM events WHERE stream = ? AND revision > ? ORDER BY revision LIMIT ?',
    ...[stream, expected, events.length],
  );
  if (!events.every(({ id }, index) => rows[index]?.[0] === id)) return undefined;
  const position = rows[events.length - 1]?.[1] as number;
  return { kind: 'appended', revision: BigInt(expected + events.length), position: BigInt(position) };
};
