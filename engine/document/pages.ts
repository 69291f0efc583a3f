/** Formats without pages bill one page per started this many characters. */
export const CHARACTERS_PER_PAGE = 3000;

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
