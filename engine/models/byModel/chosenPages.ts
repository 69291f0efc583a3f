import type { PageRanks, RankedField } from '../../ports/documentTools.ts';

/** A value that stands on a page: found by the engine, or by a model and then grounded. */
export interface Standing {
  /** JSON Pointer into an answer. */
  readonly path: string;
  readonly page: number;
}

/** Documents of more pages are shown in part, where their pages are told apart. */
export const CHOICE_FROM_PAGES = 50;

/** Shares of a document's characters: of the first look, and of all looks for single values together. */
const FIRST_SHARE = 0.2;
/** With the pages on which the engine found something: the surest first, for it takes much for what it is not. */
const FOUND_SHARE = 0.23;
const LAST_SHARE = 0.36;
/** Pages at the beginning, where a document says what it is. */
const LEAD_PAGES = 2;
/** Of a list, the pages by its words whose likes are looked at too. */
const LIST_PAGES = 3;
/** Places in the rank of a field that are looked at for it alone. */
const RANKS = 40;

type Page = PageRanks['pages'][number];

/** Pages in their order, none twice; what is added is within a share of the document's characters. */
class Choice {
  private readonly taken = new Set<number>();
  private readonly byNumber: ReadonlyMap<number, Page>;
  private readonly total: number;
  private readonly isSeen: (page: number) => boolean;
  private characters: number;

  constructor({ pages }: PageRanks, seen: ReadonlySet<number>) {
    this.byNumber = new Map(pages.map((page) => [page.page, page]));
    this.total = sumOf(pages);
    this.isSeen = (page) => seen.has(page);
    this.characters = sumOf(pages.filter(({ page }) => seen.has(page)));
  }

  /** False: it does not fit into the share. A page that is there already always fits. */
  add(number: number, share: number): boolean {
    const page = this.byNumber.get(number);
    if (page === undefined || this.taken.has(number) || this.isSeen(number)) return true;
    if (this.characters + page.characters > share * this.total) return false;
    this.taken.add(number);
    this.characters += page.characters;
    return true;
  }

  pages(): readonly number[] {
    return [...this.taken].sort((a, b) => a - b);
  }
}

const sumOf = (pages: readonly Page[]): number => pages.reduce((sum, { characters }) => sum + characters, 0);

/** Takes pages by rank, a field at a time, until the share is used up. */
function addByRank(choice: Choice, fields: readonly RankedField[], share: number): void {
  for (let rank = 0; rank < RANKS; rank += 1)
    for (const { pages } of fields) {
      const page = pages[rank];
      if (page !== undefined) choice.add(page, share);
    }
}

/**
 * Where else the items of a list may stand that has some on `page`: on its neighbours, along records that run on, and
 * on all pages that look like it.
 */
function likeOf({ pages }: PageRanks, page: number): readonly number[] {
  const at = pages.findIndex((one) => one.page === page);
  const here = pages[at];
  if (here === undefined) return [];
  const like = pages.filter(({ look }) => look === here.look).map((one) => one.page);
  return [...like, ...runFrom(pages, at, -1), ...runFrom(pages, at, 1)];
}

/** The next page, and those after it for as long as they are records. */
function runFrom(pages: readonly Page[], from: number, step: 1 | -1): readonly number[] {
  const run: number[] = [];
  for (let at = from + step; ; at += step) {
    const next = pages[at];
    if (next === undefined) return run;
    run.push(next.page);
    if (!next.isRecords) return run;
  }
}

const isIn = (path: string, field: string): boolean => path === field || path.startsWith(`${field}/`);

/**
 * The pages that a model is shown first: the beginning, for each field those that speak of it most, and some on which
 * the engine found values, which are given with the surest first. Where there are lists, also all pages of records,
 * and those like the best ones of each list, however many they are.
 */
export function firstPages(ranks: PageRanks, found: readonly Standing[]): readonly number[] {
  const choice = new Choice(ranks, new Set());
  for (const { page } of ranks.pages.slice(0, LEAD_PAGES)) choice.add(page, 1);
  const lists = ranks.fields.filter(({ isList }) => isList);
  if (lists.length > 0) for (const { page, isRecords } of ranks.pages) if (isRecords) choice.add(page, 1);
  for (const { pages } of lists)
    for (const page of pages.slice(0, LIST_PAGES))
      for (const like of [page, ...likeOf(ranks, page)]) choice.add(like, 1);
  addByRank(choice, ranks.fields, FIRST_SHARE);
  for (const { page } of found) choice.add(page, FOUND_SHARE);
  return choice.pages();
}

/** What was answered for the pages that were shown so far. */
export interface AnsweredSoFar {
  readonly seen: ReadonlySet<number>;
  /** Where the values of the answers stand. */
  readonly standing: readonly Standing[];
  /** Whether the answers say something of a field. */
  readonly says: (path: string) => boolean;
}

/**
 * The pages that are looked at next: for what nothing was said of, those that speak of it next best; for lists those
 * near to and like the ones where their items stand. Where a value is missing that the schema requires, all the rest.
 * Empty: nothing is left to look for.
 */
export function nextPages(ranks: PageRanks, { seen, standing, says }: AnsweredSoFar): readonly number[] {
  const choice = new Choice(ranks, seen);
  const missing = ranks.fields.filter(({ path }) => !says(path));
  if (missing.some(({ isRequired }) => isRequired))
    return ranks.pages.flatMap(({ page }) => (seen.has(page) ? [] : page));
  for (const { path } of ranks.fields.filter(({ isList }) => isList))
    for (const page of new Set(standing.filter((one) => isIn(one.path, path)).map((one) => one.page)))
      for (const like of likeOf(ranks, page)) choice.add(like, 1);
  addByRank(choice, missing, LAST_SHARE);
  return choice.pages();
}
