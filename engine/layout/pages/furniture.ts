import type { Row } from '../content.ts';

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
  const heads = new Set(pages.flatMap(({ rows }) => headsOfTables(rows)));
  const repeated = [...seen.values()].filter((rows) => rows.length >= often && !areHeads(rows, heads));
  return new Set([...found, ...repeated.flat()]);
}

/** Half of the places of a row are heads of tables: so are the others, where a table begins otherwise. */
const areHeads = (rows: readonly Row[], heads: ReadonlySet<Row>): boolean =>
  2 * rows.filter((row) => heads.has(row)).length >= rows.length;

/** So many columns tell a table from lines that happen to stand alike. */
const COLUMNS_MIN = 3;
/** Lines in which a table begins below its head, which may have a line of units, and one that names a group. */
const BEGINS_WITHIN = 3;
/** Between a head and its first line of values, in heights of the head. */
const GAP_MAX = 4;

/** Rows that a table on their page repeats as its head, with its line of units: its columns go on below them. */
function headsOfTables(rows: readonly Row[]): readonly Row[] {
  const ordered = [...rows].sort((a, b) => a.box[1] - b.box[1]);
  return ordered.flatMap((row, at) => {
    const next = ordered.slice(at + 1, at + 1 + BEGINS_WITHIN);
    const begins = next.findIndex((below) => areColumns(row, below));
    const between = next.slice(0, begins);
    const isHead =
      row.segments.length >= COLUMNS_MIN &&
      begins >= 0 &&
      between.every(({ segments }) => segments.length < row.segments.length);
    return isHead ? [row, ...between] : [];
  });
}

/** Whether each segment of a row has one below it, close enough to be its value. */
const areColumns = (head: Row, below: Row): boolean =>
  below.segments.length === head.segments.length &&
  below.box[1] - head.box[3] <= GAP_MAX * (head.box[3] - head.box[1]) &&
  head.segments.every(({ box }, column) => {
    const other = below.segments[column]?.box;
    return other !== undefined && other[0] < box[2] && box[0] < other[2];
  });

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
