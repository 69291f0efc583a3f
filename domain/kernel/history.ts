import { Map as ImmutableMap } from 'immutable';
import { sha256 } from '../kernel/chain.ts';

/** Entries of a small page. A snapshot writes a page once, and those that have no page yet each time. */
export const PAGE_ENTRIES = 4_096;
/** So many small pages become a large one, which fits into a snapshot of its own: there are few to look through. */
export const PAGES_MERGED = 8;

/** 52 bits: a number that is exact, and the same for two names only by an accident that does no harm. */
const DIGEST_DIGITS = 13;

/** Entries that never change again: digests of names, in order, each with the revision of its event. */
export interface HistoryPage {
  readonly digests: Float64Array;
  readonly revisions: Float64Array;
}

/**
 * Which events of a stream have a name: what must never happen again is found by its name in the log, for ever, and
 * costs 16 bytes here.
 */
export interface History {
  /** Events of the stream so far, so the revision of the next one. */
  readonly events: number;
  /** Revisions by name, of those that fill no page yet; a name of several events has a list. */
  readonly latest: ImmutableMap<string, number | readonly number[]>;
  /** Revisions in `latest`. */
  readonly latestCount: number;
  /** The earlier ones, oldest first. */
  readonly pages: readonly HistoryPage[];
}

export const NO_HISTORY: History = { events: 0, latest: ImmutableMap(), latestCount: 0, pages: [] };

const digestOf = (name: string): number => Number.parseInt(sha256(name).slice(0, DIGEST_DIGITS), 16);

const listOf = (revisions: number | readonly number[] | undefined): readonly number[] =>
  typeof revisions === 'number' ? [revisions] : (revisions ?? []);

const pageOf = (latest: History['latest']): HistoryPage => {
  const entries: (readonly [number, number])[] = [];
  for (const [name, revisions] of latest) {
    const digest = digestOf(name);
    for (const revision of listOf(revisions)) entries.push([digest, revision]);
  }
  entries.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return {
    digests: Float64Array.from(entries, ([digest]) => digest),
    revisions: Float64Array.from(entries, ([, revision]) => revision),
  };
};

/** The next event of the stream, under its names. */
export const withNext = (history: History, names: readonly string[]): History => {
  const { events, pages } = history;
  if (names.length === 0) return { ...history, events: events + 1 };
  let { latest } = history;
  for (const name of names) {
    const earlier = latest.get(name);
    latest = latest.set(name, earlier === undefined ? events : [...listOf(earlier), events]);
  }
  const latestCount = history.latestCount + names.length;
  return latestCount < PAGE_ENTRIES
    ? { events: events + 1, latest, latestCount, pages }
    : { events: events + 1, latest: ImmutableMap(), latestCount: 0, pages: withPage(pages, pageOf(latest)) };
};

const LARGE_ENTRIES = PAGE_ENTRIES * PAGES_MERGED;

const withPage = (pages: readonly HistoryPage[], page: HistoryPage): readonly HistoryPage[] => {
  const more = [...pages, page];
  const small = more.filter(({ digests }) => digests.length < LARGE_ENTRIES);
  if (small.length < PAGES_MERGED) return more;
  return [...more.slice(0, -PAGES_MERGED), small.reduce(merged)];
};

/** Both pages in one, in order. */
const merged = (a: HistoryPage, b: HistoryPage): HistoryPage => {
  const length = a.digests.length + b.digests.length;
  const [digests, revisions] = [new Float64Array(length), new Float64Array(length)];
  let [i, j] = [0, 0];
  for (let at = 0; at < length; at += 1) {
    // The end of a page is above every digest.
    const isFirst = (a.digests[i] ?? Infinity) <= (b.digests[j] ?? Infinity);
    digests[at] = (isFirst ? a.digests[i] : b.digests[j]) ?? 0;
    revisions[at] = (isFirst ? a.revisions[i] : b.revisions[j]) ?? 0;
    if (isFirst) i += 1;
    else j += 1;
  }
  return { digests, revisions };
};

/** Where the first entry is that is not below the digest. */
const firstAt = ({ digests }: HistoryPage, digest: number): number => {
  let [low, high] = [0, digests.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((digests[middle] ?? 0) < digest) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** Revisions of the events that have this name, and by accident of one that has not: the event itself tells. */
export const revisionsOf = ({ latest, pages }: History, name: string): readonly number[] => {
  const recent = listOf(latest.get(name));
  if (pages.length === 0) return recent;
  const digest = digestOf(name);
  const found: number[] = [];
  for (const page of pages)
    for (let at = firstAt(page, digest); page.digests[at] === digest; at += 1)
      found.push(page.revisions[at] ?? 0);
  return [...found, ...recent];
};

/** Entries that are kept whole: of each kind so many at least, and twice as many at most. */
export const KEPT_MAX = 600;

/** The latest entries of one kind. The older generation goes when the younger one is full. */
export interface Kept<T> {
  readonly young: ImmutableMap<string, T>;
  readonly old: ImmutableMap<string, T>;
}

export const nothingKept = <T>(): Kept<T> => ({ young: ImmutableMap(), old: ImmutableMap() });

/** With one entry, the newest. */
export const keep = <T>({ young, old }: Kept<T>, key: string, value: T): Kept<T> =>
  young.size < KEPT_MAX
    ? { young: young.set(key, value), old }
    : { young: ImmutableMap<string, T>().set(key, value), old: young };

export const keptAt = <T>({ young, old }: Kept<T>, key: string): T | undefined =>
  young.get(key) ?? old.get(key);

/** All entries that are kept, each once. */
export function* allKept<T>({ young, old }: Kept<T>): Generator<T> {
  for (const [key, value] of old) if (!young.has(key)) yield value;
  yield* young.values();
}
