import type { Block, DocumentPage, TableCell, TableBlock } from '../../document/document.ts';
import { isNumberText } from './cellLines.ts';

/** A table that runs over a page ends below this share of the page's height. */
const LOWER_PART = 0.5;
/** Header rows that the next page repeats, at most. */
const HEADER_MAX = 4;
/** Points by which columns without numbers may begin elsewhere on the next page. */
const EDGE = 2;
/** A row that goes on fills at most this share of the columns. */
const MOST_GO_ON = 0.67;
/** Rows at the end of a table that show what its columns hold. */
const BODY_SAMPLE = 30;

/**
 * Pages whose first table says that it goes on with the last of the page before: the same columns at the same
 * places, nothing between but the end of a page that the first one fills, and above its rows either the same
 * header or none. Linear in the cells of the tables at the edges of pages.
 */
export function withContinuedTables(pages: readonly DocumentPage[]): readonly DocumentPage[] {
  const marked: DocumentPage[] = [];
  let head: TableBlock | undefined;
  for (const page of pages) {
    const open = openBefore(page, marked.at(-1));
    const found = open === undefined ? undefined : continued(open, head ?? open, page);
    const own = found === undefined ? page : { ...page, blocks: withTable(page.blocks, found) };
    marked.push(own);
    head = found !== undefined && tableAtEnd(own) === found ? (head ?? open) : undefined;
  }
  return marked;
}

const openBefore = (page: DocumentPage, before: DocumentPage | undefined): TableBlock | undefined =>
  before?.page === page.page - 1 ? tableAtEnd(before) : undefined;

const isShown = ({ kind }: Block): boolean => kind !== 'image';

const withTable = (blocks: readonly Block[], table: TableBlock): readonly Block[] => {
  const at = blocks.findIndex(isShown);
  return blocks.map((block, i) => (i === at ? table : block));
};

/** The table that ends a page, where it reaches the lower part of it. */
function tableAtEnd({ blocks, height }: DocumentPage): TableBlock | undefined {
  const last = blocks.findLast(isShown);
  if (last?.kind !== 'table' || last.box === null || height === null) return undefined;
  return last.box[3] >= LOWER_PART * height ? last : undefined;
}

/** The page's first table as it goes on with another; undefined where it is one of its own. */
function continued(before: TableBlock, head: TableBlock, page: DocumentPage): TableBlock | undefined {
  const next = page.blocks.find(isShown);
  if (next?.kind !== 'table' || next.columns !== before.columns) return undefined;
  const [places, others] = [columnPlaces(before), columnPlaces(next)];
  if (!places.every((place, i) => areOne(place, others[i]))) return undefined;
  const headerRows = repeatedRows(head, next);
  if (headerRows === 0 && !beginsAsBody(next, before, { places, others })) return undefined;
  if (headerRows >= next.rows) return undefined;
  const continues = goesOnInRow(before, next, headerRows) ? 'row' : 'table';
  return { ...next, headerRows, continues };
}

type ColumnExtent = readonly [from: number, to: number] | undefined;

/** Where the cells of each column stand; undefined for one that wider cells alone fill. */
function columnPlaces({ cells, columns }: TableBlock): readonly ColumnExtent[] {
  const places = Array<ColumnExtent>(columns).fill(undefined);
  for (const { box, column, columnSpan } of cells) {
    if (box === null || columnSpan > 1) continue;
    const place = places[column];
    places[column] = [Math.min(place?.[0] ?? Infinity, box[0]), Math.max(place?.[1] ?? -Infinity, box[2])];
  }
  return places;
}

const areOne = (a: ColumnExtent, b: ColumnExtent): boolean =>
  a === undefined || b === undefined || (a[0] < b[1] && b[0] < a[1]);

/** How many rows at the top of both are the same. */
function repeatedRows(head: TableBlock, next: TableBlock): number {
  const [ours, theirs] = [head, next].map((table) => textsOfRows(table, HEADER_MAX));
  let same = 0;
  while (same < HEADER_MAX && ours?.[same] !== undefined && ours[same] === theirs?.[same]) same += 1;
  return same;
}

function textsOfRows({ cells, rows }: TableBlock, most: number): readonly string[] {
  const texts = Array<string>(Math.min(rows, most)).fill('');
  for (const { row, column, text } of cells)
    if (row < texts.length) texts[row] = `${texts[row] ?? ''}\n${column} ${text.replace(/\s+/g, ' ').trim()}`;
  return texts;
}

interface Places {
  readonly places: readonly ColumnExtent[];
  readonly others: readonly ColumnExtent[];
}

/**
 * Without a header again the first row must be like the rows before it: numbers where they have numbers.
 * Where no column has any, the columns must begin at the same edges, and the row must not be set as a header.
 */
function beginsAsBody(next: TableBlock, before: TableBlock, { places, others }: Places): boolean {
  const first = next.cells.filter(({ row }) => row === 0);
  const numeric = numericColumns(before);
  if (numeric.size > 0) {
    const told = first.filter(({ column }) => numeric.has(column));
    return told.length > 0 && told.every(({ text }) => isNumberText(text));
  }
  const isHeader = first.every(({ markdown }) => markdown?.startsWith('**') === true);
  const isLevel = places.every((place, i) => Math.abs((place?.[0] ?? 0) - (others[i]?.[0] ?? 0)) <= EDGE);
  return !isHeader && isLevel;
}

/** Columns that hold numbers in most of the last rows. */
function numericColumns({ cells, rows, headerRows }: TableBlock): ReadonlySet<number> {
  const from = Math.max(headerRows, rows - BODY_SAMPLE);
  const counts = new Map<number, { all: number; numbers: number }>();
  for (const { row, column, text } of cells) {
    if (row < from) continue;
    const count = counts.get(column) ?? { all: 0, numbers: 0 };
    counts.set(column, { all: count.all + 1, numbers: count.numbers + (isNumberText(text) ? 1 : 0) });
  }
  return new Set([...counts].flatMap(([column, { all, numbers }]) => (2 * numbers > all ? [column] : [])));
}

/** A first row without a name of its own: few texts, each below one of the last row, and no number. */
function goesOnInRow(before: TableBlock, next: TableBlock, headerRows: number): boolean {
  const first = next.cells.filter(({ row }) => row === headerRows);
  const last = new Map<number, TableCell>();
  for (const cell of before.cells) if (cell.row === before.rows - 1) last.set(cell.column, cell);
  return (
    first.length > 0 &&
    first.length <= MOST_GO_ON * next.columns &&
    first.every(
      ({ column, columnSpan, text }) =>
        column > 0 && columnSpan === 1 && last.has(column) && !isNumberText(text),
    )
  );
}
