import type { Block, DocumentWarning } from './document.ts';

/** Formats without pages bill one page per started this many characters. */
const CHARACTERS_PER_PAGE = 3000;

/** Characters of one page: what has more is no page, whatever it is billed as. */
export const PAGE_CHARACTERS_MAX = 2_000_000;

/** Where the pages of a document come from. */
type PageMeasure =
  /** PDF: its pages. Images: 1. Spreadsheets: the sheets that are not empty. */
  | { readonly by: 'pages'; readonly pages: number }
  /** All others, by their decoded text. */
  | { readonly by: 'characters'; readonly characters: number };

/**
 * Pages that a document has = its pages, or characters / 3,000 rounded up; at least 1. A character is
 * a Unicode code point. Flowing text is cut into so many (`flowDocument`), and what it was cut into is counted,
 * quoted, billed and delivered.
 */
export function pagesOf(measure: PageMeasure): number {
  const pages = measure.by === 'pages' ? measure.pages : Math.ceil(measure.characters / CHARACTERS_PER_PAGE);
  return Math.max(1, pages);
}

/** A page of a text that is nearly all blank has at least so many characters, and there are fewer of them. */
const SHARE_MIN = 300;

/**
 * Characters that stand on each of so many pages, of a text that has `characters` in all: 3,000, and equal parts
 * where its pages are counted by other characters than those that it shows, such as marks and blank lines.
 */
export function shareOf(pages: number, characters: number): number {
  const isFull =
    characters > CHARACTERS_PER_PAGE * (pages - 1) && characters <= CHARACTERS_PER_PAGE * pages + 1;
  return isFull ? CHARACTERS_PER_PAGE : Math.max(SHARE_MIN, characters / pages);
}

/** Whether a file of this type has pages that can be looked at, and so be read by a model: PDF and pictures. */
export const hasPagesToSee = (mimeType: string): boolean =>
  mimeType === 'application/pdf' || mimeType.startsWith('image/');

/** Code points, not UTF-16 units: an emoji is one character. */
export function charactersIn(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit < 0xdc00 || unit > 0xdfff) count += 1;
  }
  return count;
}

/** Whether blocks have more than so many pages may, as they are shown: a cell in each place that it covers. */
export function isOverfull(blocks: Iterable<Block>, pages = 1): boolean {
  let left = PAGE_CHARACTERS_MAX * pages;
  for (const block of blocks) {
    if (block.kind === 'table')
      for (const { text, rowSpan, columnSpan } of block.cells)
        left -= (text.length + 1) * rowSpan * columnSpan;
    else left -= block.text.length + 1;
    if (left < 0) return true;
  }
  return false;
}

/** What of a document was left when its time was nearly used up. */
export const deadlineWarnings = (pages: readonly number[]): readonly DocumentWarning[] =>
  pages.length === 0
    ? []
    : [
        {
          code: 'deadline_reached',
          message:
            `The time was used up before page ${pages.join(', ')} was looked at, or looked at closely. ` +
            'Send fewer pages at once (`pages`).',
          pages,
        },
      ];

/** A number beyond it is a typing error: no document that is read has so many pages. */
export const PAGE_NUMBER_MAX = 100_000;
const RANGES_MAX = 100;
const CHARACTERS_MAX = 1_000;

/** Both ends count. */
interface Range {
  readonly from: number;
  readonly to: number;
}

type Choice =
  | { readonly kind: 'choice'; readonly ranges: readonly Range[]; readonly text: string }
  | { readonly kind: 'wrong'; readonly detail: string };

const RANGE = /^(\d{1,6})(?:(-)(\d{1,6})?)?$/;

function rangeOf(text: string): Range | undefined {
  const [, first, dash, last] = RANGE.exec(text) ?? [];
  if (first === undefined) return undefined;
  const from = Number(first);
  const to = dash === undefined ? from : last === undefined ? PAGE_NUMBER_MAX : Number(last);
  return from >= 1 && from <= to && to <= PAGE_NUMBER_MAX ? { from, to } : undefined;
}

const wrong = (detail: string): Choice => ({ kind: 'wrong', detail });

const EXPECTED = 'Name pages from 1 as in 1-3,7 or 5- (from page 5 on).';

/** Pages of a document as a caller names them: `1-3,7`, `5-`. `text` is the same, always spelled alike. */
export function pageChoice(text: string): Choice {
  if (text.length > CHARACTERS_MAX) return wrong(`At most ${CHARACTERS_MAX} characters. ${EXPECTED}`);
  const parts = text.split(',').map((part) => part.replace(/\s/g, ''));
  if (parts.length > RANGES_MAX) return wrong(`At most ${RANGES_MAX} ranges of pages.`);
  const ranges: Range[] = [];
  for (const part of parts) {
    const range = rangeOf(part);
    if (range === undefined) return wrong(`"${part}" names no pages. ${EXPECTED}`);
    ranges.push(range);
  }
  const merged = mergedRanges(ranges);
  return { kind: 'choice', ranges: merged, text: merged.map(spelled).join(',') };
}

const spelled = ({ from, to }: Range): string =>
  from === to ? String(from) : `${from}-${to === PAGE_NUMBER_MAX ? '' : to}`;

function mergedRanges(ranges: readonly Range[]): readonly Range[] {
  const merged: Range[] = [];
  for (const range of [...ranges].sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last === undefined || range.from > last.to + 1) merged.push(range);
    else merged[merged.length - 1] = { from: last.from, to: Math.max(last.to, range.to) };
  }
  return merged;
}

type Chosen =
  | { readonly kind: 'pages'; readonly numbers: readonly number[] }
  | { readonly kind: 'no_such_page'; readonly detail: string };

/** The numbers of the pages that are chosen, in order. A range may end beyond the last page, not begin there. */
export function chosenPages(text: string, total: number): Chosen {
  const choice = pageChoice(text);
  if (choice.kind === 'wrong') return { kind: 'no_such_page', detail: choice.detail };
  const beyond = choice.ranges.find(({ from }) => from > total);
  if (beyond !== undefined)
    return {
      kind: 'no_such_page',
      detail: `There is no page ${beyond.from}: the document has ${total === 1 ? '1 page' : `${total} pages`}.`,
    };
  const numbers = choice.ranges.flatMap(({ from, to }) =>
    Array.from({ length: Math.min(to, total) - from + 1 }, (_, i) => from + i),
  );
  return { kind: 'pages', numbers };
}

/**
 * Most pages of a range: some 10 MB of words, and a second of work; a scan of so many pages takes a process
 * less time than any deadline.
 */
const RANGE_PAGES = 20;
/** Pages in ranges of about the same size, so that none is a page alone where others are not. */
export function pageRanges(
  numbers: readonly number[],
  pagesMax = RANGE_PAGES,
): readonly (readonly number[])[] {
  const count = Math.ceil(numbers.length / pagesMax);
  const start = (index: number): number => Math.floor((index * numbers.length) / count);
  return Array.from({ length: count }, (_, index) => numbers.slice(start(index), start(index + 1)));
}

/** As `pageChoice` reads them. */
export function spelledPages(numbers: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(',');
}
