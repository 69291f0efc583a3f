import type { Layout, Row, Segment } from '../places/layout.ts';
import type { Pair } from './pair.ts';

/** Rows of a header over several lines. */
const HEADER_ROWS_MAX = 3;
const CELLS_MAX = 20;
/** Points that a cell may stand beside its header. */
const NEAR = 60;

const isNumber = (text: string): boolean => /\d/.test(text) && !/\p{L}{4}/u.test(text);
const isYear = (text: string): boolean => /^[12]\d{3}$/.test(text);

interface Header {
  readonly page: number;
  readonly rows: readonly Row[];
  /** What stands alone above it. */
  readonly title: string;
}

/**
 * The cells of tables of numbers, each with its row's label and the headers over its column: `Fuse` and `24 V`.
 * One walk over the rows, which remembers the header it met last.
 */
export function crossingsOf({ rows }: Layout): readonly Pair[] {
  let header: Header = { page: 0, rows: [], title: '' };
  let isOpen = false;
  return rows.flatMap((row, i): readonly Pair[] => {
    if (row.page !== header.page) header = { page: row.page, rows: [], title: '' };
    const cells = cellsOf(row);
    if (cells.length >= 2) {
      isOpen = false;
      return crossed(row, cells, header);
    }
    if (!isHeader(row)) return [];
    header = isOpen
      ? { ...header, rows: [...header.rows, row].slice(-HEADER_ROWS_MAX) }
      : { page: row.page, rows: [row], title: titleAbove(rows[i - 1]) };
    isOpen = true;
    return [];
  });
}

const isHeader = ({ segments }: Row): boolean =>
  segments.length >= 2 && segments.every(({ text }) => !isNumber(text) || isYear(text));

const TITLE_MAX = 60;

/** A short text alone on the row above a header is its title. */
function titleAbove(row: Row | undefined): string {
  const [only, ...others] = row?.segments ?? [];
  return only === undefined || others.length > 0 || only.text.length > TITLE_MAX ? '' : only.text;
}

/** The numbers right after a row's label; none of years alone, for those are a header. */
function cellsOf({ segments: [first, ...others] }: Row): readonly Segment[] {
  if (first === undefined || !/\p{L}{2}/u.test(first.text)) return [];
  const end = others.findIndex(({ text }) => !isCell(text));
  const cells = others.slice(0, end < 0 ? others.length : end).filter(({ text }) => isNumber(text));
  return cells.every(({ text }) => isYear(text)) ? [] : cells.slice(0, CELLS_MAX);
}

const isCell = (text: string): boolean => isNumber(text) || !/\p{L}/u.test(text);

function crossed({ segments: [label] }: Row, cells: readonly Segment[], header: Header): readonly Pair[] {
  if (label === undefined || header.rows.length === 0) return [];
  return cells.map((cell): Pair => {
    const over = header.rows.flatMap((row) => headerOver(cell, row)?.text ?? []);
    const context = [header.title, ...over].join(' · ');
    const value = { segment: cell, from: 0, to: cell.text.length };
    return { label: label.text, at: label, context, value, kind: 'cross' };
  });
}

/** The header nearest to a cell: headers of groups stand in the middle of several columns. */
function headerOver(cell: Segment, { segments }: Row): Segment | undefined {
  const distance = (one: Segment): number => Math.max(0, one.x0 - cell.x1, cell.x0 - one.x1);
  const nearest = segments
    .slice(0, CELLS_MAX)
    .reduce<Segment | undefined>(
      (best, one) => (best === undefined || distance(one) < distance(best) ? one : best),
      undefined,
    );
  return nearest !== undefined && distance(nearest) <= NEAR ? nearest : undefined;
}
