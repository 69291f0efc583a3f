import type {
  Block,
  Box,
  Document,
  DocumentPage,
  Line,
  TableBlock,
  TableCell,
  Word,
} from '../../document/document.ts';
import { wordsOfCell } from '../../document/wholeBlocks.ts';
import { fromTheLeft, plainWords, type Cell, type Grid, type GridRow } from './grid.ts';
import { nearestOver, type PlacedCell, type Span } from './lineColumns.ts';
import { firstPlace } from '../../kernel/lists.ts';

/** Places of a table that is looked at. */
const PLACES_MAX = 2_000_000;
/** Texts above a table that may say what it is about. */
const ABOVE_MAX = 4;
const ABOVE_CHARACTERS_MAX = 200;

const KNOWN = new WeakMap<Document, readonly Grid[]>();

/** The tables of a document as grids, in reading order; made once. */
export function gridsOf(document: Document): readonly Grid[] {
  const known = KNOWN.get(document);
  if (known !== undefined) return known;
  const grids = isWorkbook(document)
    ? sheetGrids(document)
    : withWholeRows(document.pages.flatMap(gridsOfPage));
  KNOWN.set(document, grids);
  return grids;
}

const isWorkbook = ({ mimeType }: Document): boolean => /spreadsheet|ms-excel/.test(mimeType);

function gridsOfPage(page: DocumentPage): readonly CutGrid[] {
  const lines = linesByHeight(page);
  return page.blocks.flatMap((block, index) => {
    if (block.kind !== 'table' || block.rows * block.columns > PLACES_MAX) return [];
    const { continues, headerRows } = block;
    const follows =
      continues !== undefined || page.blocks.slice(0, index).every(({ kind }) => kind === 'image');
    const title = titleAbove(page.blocks[index - 1], page.page, lines);
    const around = {
      above: textsAbove(page.blocks, index),
      about: cellsAbove(page, index, lines),
      title,
      follows,
      continues: continues !== undefined,
    };
    return [
      {
        grid: gridOf(block, { page, lines, ...around }),
        cutAt: continues === 'row' ? headerRows : undefined,
      },
    ];
  });
}

/** Longer texts are no titles. */
const TITLE_CHARACTERS_MAX = 80;

/** A heading or a short text that is no sentence. */
function titleAbove(block: Block | undefined, page: number, lines: readonly PlacedLine[]): Cell | undefined {
  if (block?.kind !== 'heading' && block?.kind !== 'paragraph') return undefined;
  const text = block.text.replace(/\s+/g, ' ').trim();
  if (text === '' || text.length > TITLE_CHARACTERS_MAX || /[.;,]$/.test(text)) return undefined;
  return cellOf({ text, box: block.box, columnSpan: 1 }, page, lines);
}

/** The texts before a table up to the table before it, the nearest first; headings reach further. */
function textsAbove(blocks: readonly Block[], index: number): readonly string[] {
  const texts: string[] = [];
  for (let i = index - 1; i >= 0 && index - i <= 12 && texts.length < ABOVE_MAX; i -= 1) {
    const block = blocks[i];
    if (block === undefined || block.kind === 'table') break;
    if (block.text.length <= ABOVE_CHARACTERS_MAX) texts.push(block.text);
    if (block.kind === 'heading') break;
  }
  return texts;
}

/** A table of so few rows is a head of labels and values. */
const HEAD_ROWS_MAX = 4;
const ABOUT_BLOCKS_MAX = 6;

/** What stands above a table up to the table before it, line by line, and cell by cell where that is a head. */
function cellsAbove(
  { blocks, page }: DocumentPage,
  index: number,
  lines: readonly PlacedLine[],
): readonly Cell[] {
  const cells: Cell[] = [];
  for (let i = index - 1; i >= 0 && index - i <= ABOUT_BLOCKS_MAX; i -= 1) {
    const block = blocks[i];
    if (block === undefined || (block.kind === 'table' && block.rows > HEAD_ROWS_MAX)) break;
    const texts =
      block.kind === 'table'
        ? block.cells
        : block.text.split('\n').map((text) => ({ text, box: block.box, columnSpan: 1 }));
    const short = texts.filter(({ text }) => text.length <= ABOVE_CHARACTERS_MAX);
    cells.push(...short.map((one) => cellOf({ ...one, columnSpan: 1 }, page, lines)));
  }
  return cells;
}

interface Placing {
  readonly page: DocumentPage;
  readonly lines: readonly PlacedLine[];
  readonly above: readonly string[];
  readonly about: readonly Cell[];
  readonly title: Cell | undefined;
  readonly follows: boolean;
  readonly continues: boolean;
}

function gridOf(table: TableBlock, { page, lines, ...around }: Placing): Grid {
  const rows = Array.from({ length: table.rows }, () =>
    Array<Cell | undefined>(table.columns).fill(undefined),
  );
  for (const raw of table.cells) {
    if (raw.text.trim() === '') continue;
    const cell = cellOf(raw, page.page, lines);
    for (const row of rows.slice(raw.row, raw.row + raw.rowSpan))
      row.fill(cell, raw.column, raw.column + raw.columnSpan);
  }
  const overColumns = (row: number): GridRow => groupsOver(row, rows, table);
  return { ...around, rows, columns: table.columns, page: page.page, isTurned: false, overColumns };
}

/** Names of groups, by their places on the page where the table has no cells that span. */
function groupsOver(at: number, rows: readonly GridRow[], table: TableBlock): GridRow {
  const row = rows[at] ?? [];
  const own = table.cells.filter((cell) => cell.row === at && cell.text.trim() !== '');
  if (own.some(({ columnSpan, box }) => columnSpan > 1 || box === null)) return fromTheLeft(row);
  const columns = columnPlaces(table, at);
  if (columns === undefined) return fromTheLeft(row);
  const placed = own.flatMap(({ box, column }): PlacedCell[] => {
    const cell = row[column];
    return box === null || cell === undefined ? [] : [{ cell, x0: box[0], x1: box[2] }];
  });
  return nearestOver(placed, columns);
}

/** Where the cells of each column stand below a row; undefined where a column has none. */
function columnPlaces({ cells, columns }: TableBlock, below: number): readonly Span[] | undefined {
  const places = Array.from({ length: columns }, () => ({ x0: Number.POSITIVE_INFINITY, x1: 0 }));
  for (const { row, column, columnSpan, box } of cells) {
    const place = places[column];
    if (row <= below || columnSpan > 1 || box === null || place === undefined) continue;
    place.x0 = Math.min(place.x0, box[0]);
    place.x1 = Math.max(place.x1, box[2]);
  }
  return places.every(({ x0 }) => Number.isFinite(x0)) ? places : undefined;
}

function cellOf(
  cell: TableCell | Pick<TableCell, 'text' | 'box' | 'columnSpan'>,
  page: number,
  lines: readonly PlacedLine[],
): Cell {
  const { text, box, columnSpan } = cell;
  const plain = text.replace(/\s+/g, ' ').trim();
  if (box === null && 'row' in cell) return { text: plain, page, columnSpan, words: wordsOfCell(cell) };
  const own = box === null ? [] : wordsWithin(box, lines);
  const isWhole = own.map((word) => word.text).join('') === plain.replace(/ /g, '');
  return { text: plain, page, columnSpan, words: isWhole ? own : plainWords(plain, box) };
}

interface PlacedLine {
  readonly line: Line;
  readonly middle: number;
}

/** Lines by the height of their middle, so that a cell looks at its own only. */
function linesByHeight({ lines }: DocumentPage): readonly PlacedLine[] {
  return lines
    .flatMap((line) => {
      const box = line.words.find((word) => word.box !== null)?.box ?? null;
      return box === null ? [] : [{ line, middle: (box[1] + box[3]) / 2 }];
    })
    .sort((a, b) => a.middle - b.middle);
}

/** Longer lines are not looked through for every cell. */
const WORDS_MAX = 1000;
/** Points that a word's middle may lie outside of its cell. */
const TOLERANCE = 1.5;

function wordsWithin([x0, y0, x1, y1]: Box, lines: readonly PlacedLine[]): readonly Word[] {
  const found: Word[] = [];
  for (let i = firstFrom(lines, y0 - TOLERANCE); i < lines.length; i += 1) {
    const placed = lines[i];
    if (placed === undefined || placed.middle > y1 + TOLERANCE) break;
    if (placed.line.words.length > WORDS_MAX) continue;
    for (const word of placed.line.words) {
      if (word.box === null) continue;
      const middle = (word.box[0] + word.box[2]) / 2;
      if (middle >= x0 - TOLERANCE && middle <= x1 + TOLERANCE) found.push(word);
    }
  }
  return found;
}

/** The place of the first line at or below a height. */
const firstFrom = (lines: readonly PlacedLine[], height: number): number =>
  firstPlace(lines.length, (place) => (lines[place]?.middle ?? 0) >= height);

/** A sheet is one grid: its lines keep the columns of its cells, with tabs between them. */
const sheetGrids = ({ pages }: Document): readonly Grid[] => pages.flatMap(sheetGrid);

function sheetGrid({ page, lines, blocks }: DocumentPage): readonly Grid[] {
  const texts = lines.map(({ text }) => text.split('\t'));
  const columns = texts.reduce((widest, { length }) => Math.max(widest, length), 0);
  if (columns < 2) return [];
  const rows = texts.map((cells): GridRow => {
    const row = cells.map((text): Cell | undefined => sheetCell(text.trim(), page));
    return [...row, ...Array<undefined>(columns - row.length).fill(undefined)];
  });
  const [first] = blocks;
  const above = first?.kind === 'heading' ? [first.text] : [];
  const overColumns = (row: number): GridRow => fromTheLeft(rows[row] ?? []);
  const title = first?.kind === 'heading' ? sheetCell(first.text, page) : undefined;
  const about: readonly Cell[] = [];
  return [
    {
      rows,
      columns,
      page,
      above,
      about,
      title,
      follows: false,
      continues: false,
      isTurned: false,
      overColumns,
    },
  ];
}

const sheetCell = (text: string, page: number): Cell | undefined =>
  text === '' ? undefined : { text, page, columnSpan: 1, words: plainWords(text, null) };

/** A grid, and the row of it that goes on with the last row of the grid before; undefined for none. */
interface CutGrid {
  readonly grid: Grid;
  readonly cutAt: number | undefined;
}

/** Grids with the rows whole that the end of a page cuts in two: they stand where they begin. */
function withWholeRows(cut: readonly CutGrid[]): readonly Grid[] {
  const whole: Grid[] = [];
  for (const { grid, cutAt } of cut) {
    const before = whole.at(-1);
    const [last, rest] = [before?.rows.at(-1), cutAt === undefined ? undefined : grid.rows[cutAt]];
    if (before === undefined || last === undefined || rest === undefined) whole.push(grid);
    else {
      whole[whole.length - 1] = { ...before, rows: [...before.rows.slice(0, -1), joined(last, rest)] };
      whole.push({ ...grid, rows: grid.rows.filter((row) => row !== rest) });
    }
  }
  return whole;
}

const joined = (row: GridRow, rest: GridRow): GridRow =>
  row.map((cell, column) => withMore(cell, rest[column]));

/** What stands on the next page has no place on the page that is cited. */
const withMore = (cell: Cell | undefined, more: Cell | undefined): Cell | undefined =>
  cell === undefined || more === undefined
    ? cell
    : {
        ...cell,
        text: `${cell.text} ${more.text}`,
        words: [...cell.words, ...more.words.map((word) => ({ ...word, box: null }))],
      };

/** A record for each column: so many records and members a table of records has at least and at most. */
const RECORDS_MIN = 2;
const MEMBERS_MIN = 2;
const TURNED_PLACES_MAX = 300;

/** Tables whose first column names what stands right of it, turned so that each record is a row. */
export const turnedGrids = (grids: readonly Grid[]): readonly Grid[] => grids.flatMap(turned);

function turned(grid: Grid): readonly Grid[] {
  const { columns, rows } = grid;
  if (columns <= RECORDS_MIN || columns > TURNED_PLACES_MAX) return [];
  if (rows.length < MEMBERS_MIN || rows.length > TURNED_PLACES_MAX) return [];
  const own = Array.from({ length: columns }, (_, column): GridRow => rows.map((row) => row[column]));
  const overColumns = (row: number): GridRow => fromTheLeft(own[row] ?? []);
  const apart = { follows: false, continues: false, isTurned: true };
  return [{ ...grid, ...apart, rows: own, columns: rows.length, overColumns }];
}
