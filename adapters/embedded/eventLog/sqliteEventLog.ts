import { setImmediate as nextTurn } from 'node:timers/promises';
import { OWN_STREAMS, SNAPSHOT_CATEGORY, isHidden } from '../../../domain/kernel/ownStreams.ts';
import type { BackwardsOptions, EventFeed, FeedItem, FeedOptions } from '../../../domain/ports/eventFeed.ts';
import {
  LogUnavailable,
  type EventStore,
  type ReadOptions,
  type RecordedEvent,
} from '../../../domain/ports/eventStore.ts';
import type { SnapshotStore } from '../../../domain/ports/snapshotStore.ts';
import { COLUMNS, asInteger, openLogFile, recorded, storedColumns } from './sqliteEventLogFile.ts';
import type { LogFile } from './sqliteEventLogFile.ts';
import { lastPosition } from './sqliteEventLogCommit.ts';
import { groupWriter } from './sqliteEventLogWriter.ts';
import { sqliteSnapshots } from './sqliteSnapshots.ts';
import { commitChannel, wakeUps } from './sqliteEventLogWakeUps.ts';
import type { WakeUps } from './sqliteEventLogWakeUps.ts';

const READ_PAGE = 500;
const FEED_PAGE = 1000;
const POLL_MS = 100;

export interface SqliteEventLogOptions {
  readonly path: string;
  /** For a second process (audit, export) beside the service: reads only, and polls for new events. */
  readonly readOnly?: boolean;
  /** For another thread of the process that writes: reads only, and the writer wakes it. */
  readonly besideWriter?: boolean;
  /** For auditors: a subscription to the whole log also says how each event lies in the file. */
  readonly stored?: boolean;
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
  onTrouble,
}: SqliteEventLogOptions): SqliteEventLog => {
  const file = openLogFile(path, readOnly);
  const wake = wakeUps(readOnly && !besideWriter ? POLL_MS : undefined);
  const commits = besideWriter ? commitChannel(path) : undefined;
  if (commits !== undefined) commits.onmessage = wake.all;
  const writer = readOnly ? undefined : groupWriter(path, wake.all, onTrouble);
  let closed = false;

  return {
    snapshots: sqliteSnapshots(file, (row) => writer?.save(row) ?? Promise.reject(readingOnly())),
    append: (stream, expected, events) => {
      if (writer === undefined) return Promise.reject(readingOnly());
      return writer.append({ stream, expected, events });
    },
    read: (stream, options = {}) => readStream(file, stream, options),
    subscribe: (options) => follow({ file, wake, options, stored, isClosed: () => closed }),
    backwards: (options) => readBackwards(file, options, () => closed),
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

const FORWARDS = `SELECT ${COLUMNS} FROM events WHERE stream = ? AND revision >= ? ORDER BY revision LIMIT ?`;
const BACKWARDS = `SELECT ${COLUMNS} FROM events WHERE stream = ? AND revision <= ?
  ORDER BY revision DESC LIMIT ?`;

/** Page by page: a slow consumer holds no read transaction, which would keep the WAL growing. */
async function* readStream(
  file: LogFile,
  stream: string,
  options: ReadOptions,
): AsyncGenerator<RecordedEvent, void, void> {
  const forwards = options.direction !== 'backwards';
  let next = options.from === undefined ? (forwards ? 0 : Number.MAX_SAFE_INTEGER) : asInteger(options.from);
  let left = options.limit ?? Infinity;
  while (left > 0 && next >= 0) {
    const size = Math.min(left, READ_PAGE);
    const rows = file.rows(forwards ? FORWARDS : BACKWARDS, stream, next, size);
    for (const row of rows) yield recorded(row);
    if (rows.length < size) return;
    next = revisionOf(rows) + (forwards ? 1 : -1);
    left -= size;
    await nextTurn();
  }
}

const revisionOf = (rows: Rows): number => rows.at(-1)?.[2] as number;

const BEFORE = (): string => `SELECT ${COLUMNS} FROM events
  WHERE position < ? AND (${OWN} OR ${VISIBLE}) ORDER BY position DESC LIMIT ${READ_PAGE}`;

/** Page by page, as `readStream`. */
async function* readBackwards(
  file: LogFile,
  { before, signal }: BackwardsOptions,
  isClosed: () => boolean,
): AsyncGenerator<RecordedEvent, void, void> {
  let next = before === undefined ? Number.MAX_SAFE_INTEGER : asInteger(before);
  while (!isOver(isClosed, signal)) {
    const rows = file.rows(BEFORE(), next);
    for (const row of rows) yield recorded(row);
    if (rows.length < READ_PAGE) return;
    next = rows.at(-1)?.[0] as number;
    await nextTurn();
  }
}

/** Whether the reader has said that it wants no more. Throws when the log was closed under it. */
const isOver = (isClosed: () => boolean, signal: AbortSignal | undefined): boolean => {
  if (signal?.aborted === true) return true;
  if (isClosed()) throw new LogUnavailable('the event log was closed');
  return false;
};

interface Following {
  readonly file: LogFile;
  readonly wake: WakeUps;
  readonly options: FeedOptions;
  readonly stored: boolean;
  readonly isClosed: () => boolean;
}

async function* follow(following: Following): AsyncGenerator<FeedItem, void, void> {
  const { wake, options, isClosed } = following;
  const { signal } = options;
  const stopped = () => isOver(isClosed, signal);
  let position = asInteger(options.after ?? 0n);
  let caughtUp = false;

  while (!stopped()) {
    const seen = wake.count();
    const page = pageAfter(following, position);
    for (const item of itemsOf(page)) {
      yield item;
      if (stopped()) return;
    }
    position = page.end;
    if (page.full) {
      await nextTurn();
      continue;
    }
    if (!caughtUp) yield { kind: 'caught_up' };
    caughtUp = true;
    await wake.next(seen, signal);
  }
}

type Rows = readonly (readonly unknown[])[];

interface Page {
  readonly rows: Rows;
  /** There may be more behind it. */
  readonly full: boolean;
  /** Nothing that matches lies after the last row and up to here. */
  readonly end: number;
  /** `end` lies beyond the last row. */
  readonly moved: boolean;
}

function* itemsOf({ rows, end, moved }: Page): Generator<FeedItem, void, void> {
  for (const row of rows) yield { kind: 'event', event: recorded(row) };
  if (moved) yield { kind: 'checkpoint', position: BigInt(end) };
}

const pageAfter = ({ file, options, stored }: Following, after: number): Page => {
  // The head is read first: everything up to it is then either in the page or does not match.
  const head = lastPosition(file);
  if (head <= after) return { rows: [], full: false, end: after, moved: false };
  const rows = matching(file, { after, head, options, stored });
  const full = rows.length === FEED_PAGE;
  const last = rows.at(-1)?.[0] as number | undefined;
  return full
    ? { rows, full, end: last ?? after, moved: false }
    : { rows, full, end: head, moved: last !== head };
};

interface Stretch {
  readonly after: number;
  readonly head: number;
  readonly options: FeedOptions;
  readonly stored: boolean;
}

export const VISIBLE = `category NOT GLOB '$*' AND category <> '${SNAPSHOT_CATEGORY}'`;
export const OWN = `category IN (${OWN_STREAMS.map((stream) => `'${stream}'`).join(', ')})`;

const LAST_VISIBLE = `SELECT position FROM events WHERE ${VISIBLE} ORDER BY position DESC LIMIT 1`;

const allOf = (columns: string, own: boolean): string => `SELECT ${columns} FROM events
  WHERE position > ? AND position <= ? AND ${own ? `(${OWN} OR ${VISIBLE})` : VISIBLE}
  ORDER BY position LIMIT ${FEED_PAGE}`;

const ONE_CATEGORY = `SELECT position FROM (SELECT position FROM events
  WHERE category = ? AND position > ? AND position <= ? ORDER BY position LIMIT ${FEED_PAGE})`;

const matching = (file: LogFile, { after, head, options, stored }: Stretch): Rows => {
  const { own = false } = options;
  const columns = stored ? storedColumns(file) : COLUMNS;
  if (options.categories === undefined) return file.rows(allOf(columns, own), after, head);
  const asked = options.categories.filter((category) => !isHidden(category));
  const categories = own ? [...asked, ...OWN_STREAMS] : asked;
  if (categories.length === 0) return [];
  // One walk of the index per category, merged: `category IN (…)` would sort the rest of the log.
  const walks = categories.map(() => ONE_CATEGORY).join(' UNION ALL ');
  const sql = `SELECT ${COLUMNS} FROM events WHERE position IN
    (SELECT position FROM (${walks}) ORDER BY position LIMIT ${FEED_PAGE}) ORDER BY position`;
  return file.rows(sql, ...categories.flatMap((category) => [category, after, head]));
};
