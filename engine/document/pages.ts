import type { Block, DocumentWarning } from './document.ts';

/** Formats without pages bill one page per started this many characters. */
export const CHARACTERS_PER_PAGE = 3000;

/** Characters of one page: what has more is no page, whatever it is billed as. */
export const PAGE_CHARACTERS_MAX = 2_000_000;

/** Where the pages of a document come from. */
export type PageMeasure =
  /** PDF: its pages. Images: 1. Spreadsheets: the sheets that are not empty. */
  | { readonly by: 'pages'; readonly pages: number }
  /** All others, by their decoded text. */
  | { readonly by: 'characters'; readonly characters: number };

/**
 * Pages that a document bills = its pages, or characters / 3,000 rounded up; at least 1. A character is
 * a Unicode code point. This one rule serves quotes, page counts, bills and ledgers.
 */
export function pagesOf(measure: PageMeasure): number {
  const pages = measure.by === 'pages' ? measure.pages : Math.ceil(measure.characters / CHARACTERS_PER_PAGE);
  return Math.max(1, pages);
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
