import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ArchivedFile } from '../../domain/eventLog/archive.ts';
import { categoryOf } from '../../domain/kernel/chain.ts';
import { isHidden, isLeftOut, isOwn, OWN_STREAMS, SNAPSHOT_CATEGORY } from '../../domain/kernel/json.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import {
  type BackwardsOptions,
  type FeedItem,
  type FeedOptions,
  LogUnavailable,
  type ReadOptions,
} from '../../domain/ports/log.ts';
import type { ArchivedEvents } from './archive.ts';
import {
  asInteger,
  COLUMNS,
  lastPosition,
  type LogFile,
  DIGEST_BEFORE,
  recorded,
  storedColumns,
  type WakeUps,
} from './eventLogFile.ts';

const READ_PAGE = 500;
const FEED_PAGE = 1000;

const forwards = (columns: string): string =>
  `SELECT ${columns} FROM events WHERE stream = ? AND revision >= ? ORDER BY revision LIMIT ?`;
/** For auditors: how the event lies in the file, and the digest over the log up to the event before it. */
const storedForwards = (file: LogFile): string =>
  forwards(`${storedColumns(file)}, ${file.layout === 1 ? 'NULL' : DIGEST_BEFORE}`);
const BACKWARDS = `SELECT ${COLUMNS} FROM events WHERE stream = ? AND revision <= ?
  ORDER BY revision DESC LIMIT ?`;

interface Reading {
  readonly file: LogFile;
  readonly archive: ArchivedEvents;
  /** Left out: an event is read without how it lies in the file. */
  readonly stored?: boolean;
}

/** Page by page: a slow consumer holds no read transaction, which would keep the WAL growing. */
export async function* readStream(
  { file, archive, stored = false }: Reading,
  stream: string,
  { from = 0n, limit = Infinity }: ReadOptions,
): AsyncGenerator<RecordedEvent, void, void> {
  const sql = stored ? storedForwards(file) : forwards(COLUMNS);
  let [next, left] = [asInteger(from), limit];
  while (left > 0) {
    const size = Math.min(left, READ_PAGE);
    const { events, isLast } = await pageOf({ file, archive }, file.rows(sql, stream, next, size), {
      stream,
      next,
      size,
    });
    yield* events;
    if (isLast) return;
    next = Number(events.at(-1)?.revision) + 1;
    left -= events.length;
    await nextTurn();
  }
}

/** The events of rows, or of the archive where they were moved there. */
async function pageOf(
  { archive }: Reading,
  rows: ReturnType<LogFile['rows']>,
  { stream, next, size }: { readonly stream: string; readonly next: number; readonly size: number },
): Promise<{ readonly events: readonly RecordedEvent[]; readonly isLast: boolean }> {
  // Asked after the rows were read: events that are moved out meanwhile are in one of the two.
  const archived = rows[0]?.[2] === next ? undefined : archive.streamFrom(stream, next);
  if (archived === undefined) return { events: rows.map(recorded), isLast: rows.length < size };
  const events = (await archived()).slice(0, size);
  return { events, isLast: events.length === 0 };
}

/** The same from the end. */
export async function* readStreamBack(
  { file, archive }: Reading,
  stream: string,
  { from, limit = Infinity }: ReadOptions,
): AsyncGenerator<RecordedEvent, void, void> {
  let [next, left] = [from === undefined ? Number.MAX_SAFE_INTEGER : asInteger(from), limit];
  while (left > 0 && next >= 0) {
    const size = Math.min(left, READ_PAGE);
    const rows = file.rows(BACKWARDS, stream, next, size);
    const archived = rows.length === 0 ? archive.streamUpTo(stream, next) : undefined;
    const events = archived === undefined ? rows.map(recorded) : (await archived()).slice(0, left);
    yield* events;
    if (events.length === 0) return;
    next = Number(events.at(-1)?.revision) - 1;
    left -= events.length;
    await nextTurn();
  }
}

const BEFORE = (): string => `SELECT ${COLUMNS} FROM events
  WHERE position < ? AND position > ? AND (${OWN} OR ${VISIBLE}) ORDER BY position DESC LIMIT ${READ_PAGE}`;

/** Page by page, as `readStream`; then what the archive has. */
export async function* readBackwards(
  { file, archive }: Reading,
  { before, signal }: BackwardsOptions,
  isClosed: () => boolean,
): AsyncGenerator<RecordedEvent, void, void> {
  let next = before === undefined ? Number.MAX_SAFE_INTEGER : asInteger(before);
  while (!isOver(isClosed, signal)) {
    const rows = file.rows(BEFORE(), next, archive.through());
    for (const row of rows) yield recorded(row);
    if (rows.length === 0) break;
    next = rows.at(-1)?.[0] as number;
    await nextTurn();
  }
  for await (const event of archivedBefore(archive, next)) {
    if (isOver(isClosed, signal)) return;
    yield event;
  }
}

async function* archivedBefore(
  archive: ArchivedEvents,
  before: number,
): AsyncGenerator<RecordedEvent, void, void> {
  for (let part = archive.fileBefore(before); part !== undefined; part = archive.fileBefore(part.first))
    for (const event of (await archive.eventsIn(part)).toReversed())
      if (event.position < BigInt(before) && !isLeftOut(event.stream, { own: true })) yield event;
}

/** Whether the reader has said that it wants no more. Throws when the log was closed under it. */
const isOver = (isClosed: () => boolean, signal: AbortSignal | undefined): boolean => {
  if (signal?.aborted === true) return true;
  if (isClosed()) throw new LogUnavailable('the event log was closed');
  return false;
};

interface Following extends Reading {
  readonly wake: WakeUps;
  readonly options: FeedOptions;
  readonly stored: boolean;
  readonly isClosed: () => boolean;
}

export async function* follow(following: Following): AsyncGenerator<FeedItem, void, void> {
  const { wake, options, isClosed } = following;
  const { signal } = options;
  const stopped = () => isOver(isClosed, signal);
  let position = asInteger(options.after ?? 0n);
  let caughtUp = false;

  while (!stopped()) {
    const seen = wake.count();
    const page = await pageAfter(following, position);
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
  readonly events: readonly RecordedEvent[];
  /** There may be more behind it. */
  readonly full: boolean;
  /** Nothing that matches lies after the last event and up to here. */
  readonly end: number;
  /** `end` lies beyond the last event. */
  readonly moved: boolean;
}

function* itemsOf({ events, end, moved }: Page): Generator<FeedItem, void, void> {
  for (const event of events) yield { kind: 'event', event };
  if (moved) yield { kind: 'checkpoint', position: BigInt(end) };
}

const pageInFile = ({ file, options, stored }: Following, after: number): Page => {
  // The head is read first: everything up to it is then either in the page or does not match.
  const head = lastPosition(file);
  if (head <= after) return { events: [], full: false, end: after, moved: false };
  const rows = matching(file, { after, head, options, stored });
  const full = rows.length === FEED_PAGE;
  const last = rows.at(-1)?.[0] as number | undefined;
  const events = rows.map(recorded);
  return full
    ? { events, full, end: last ?? after, moved: false }
    : { events, full, end: head, moved: last !== head };
};

/** What a file of the archive has for the reader. Events about the log itself are in the log's own file as well. */
const pageInArchive = async (
  { file, archive, options, stored }: Following,
  part: ArchivedFile,
  after: number,
): Promise<Page> => {
  const { categories, own = false } = options;
  const stretch = { after, head: part.last, options: { categories: [], own }, stored };
  const isWanted = ({ stream, position }: RecordedEvent): boolean =>
    position > BigInt(after) &&
    !isLeftOut(stream, { own }) &&
    (categories === undefined || isOwn(stream) || categories.includes(categoryOf(stream)));
  const isIn = categories?.some((category) => part.categories.includes(category)) ?? true;
  const events = isIn
    ? (await archive.eventsIn(part)).filter(isWanted)
    : matching(file, stretch).map(recorded);
  return { events, full: true, end: part.last, moved: events.at(-1)?.position !== BigInt(part.last) };
};

const pageAfter = async (following: Following, after: number): Promise<Page> => {
  const { archive } = following;
  const part = archive.fileAfter(after);
  if (part !== undefined) return pageInArchive(following, part, after);
  const page = pageInFile(following, after);
  // Asked again: events that are moved out meanwhile are missing in a page that was read just now.
  const movedOut = archive.fileAfter(after);
  return movedOut === undefined ? page : pageInArchive(following, movedOut, after);
};

interface Stretch {
  readonly after: number;
  readonly head: number;
  readonly options: FeedOptions;
  readonly stored: boolean;
}

export const VISIBLE = `category NOT GLOB '$*' AND category <> '${SNAPSHOT_CATEGORY}'`;
export const OWN = `category IN (${OWN_STREAMS.map((stream) => `'${stream}'`).join(', ')})`;

/** The position of the last event that readers see. */
export const LAST_VISIBLE = `SELECT position FROM events WHERE ${VISIBLE} ORDER BY position DESC LIMIT 1`;

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
