import type { Row } from './content.ts';

/** Header and footer stand within this share of the page's height from its edges. */
const EDGE = 0.12;

export interface EdgePage {
  readonly height: number;
  readonly rows: readonly Row[];
}

/**
 * The rows that run through the document: those that most pages repeat at one height of their top or
 * bottom, page numbers told from each other or not, and page numbers that stand alone there. `known`: the keys
 * of those that run through the document that these pages are a part of.
 */
export function runningRows(
  pages: readonly EdgePage[],
  known: ReadonlySet<string> = new Set(),
): ReadonlySet<Row> {
  const found = new Set<Row>();
  const seen = new Map<string, Row[]>();
  for (const page of pages) {
    for (const row of edgeRows(page)) {
      const text = textOf(row);
      if (pages.length > 1 && isPageNumber(text) && isOutermost(row, page.rows)) found.add(row);
      const key = keyOf(row);
      if (known.has(key)) found.add(row);
      seen.set(key, [...(seen.get(key) ?? []), row]);
    }
  }
  if (pages.length < 3) return found;
  const often = Math.max(2, Math.ceil(pages.length * 0.4));
  const repeated = [...seen.values()].filter((rows) => rows.length >= often).flat();
  return new Set([...found, ...repeated]);
}

/** What a row is known by on every page: its height and its text, page numbers told from each other or not. */
export const keyOf = (row: Row): string =>
  `${Math.round(row.box[1] / 6)}:${textOf(row).replace(/\d+/g, '#').toLowerCase()}`;

const edgeRows = ({ height, rows }: EdgePage): readonly Row[] =>
  rows.filter(({ box }) => box[3] <= EDGE * height || box[1] >= (1 - EDGE) * height);

const textOf = ({ segments }: Row): string =>
  segments
    .flatMap(({ words }) => words)
    .map(({ text }) => text)
    .join(' ');

const PAGE_NUMBER = new RegExp(
  String.raw`^[-–—|\s]*(?:(?:page|seite|p\.|página|pagina|blatt|s\.)\s*)?(?:\d{1,4}|[ivxl]{1,6})` +
    String.raw`(?:\s*(?:\/|of|von|de|di|van|sur)\s*\d{1,4})?[-–—|\s.]*$`,
  'i',
);
const isPageNumber = (text: string): boolean => PAGE_NUMBER.test(text);

const isOutermost = (row: Row, rows: readonly Row[]): boolean => {
  const tops = rows.map(({ box }) => box[1]);
  return row.box[1] <= Math.min(...tops) + 1 || row.box[1] >= Math.max(...tops) - 1;
};
