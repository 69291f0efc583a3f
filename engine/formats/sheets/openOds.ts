import { utils } from '@e965/xlsx';
import { oneLine } from '../../document/plainText.ts';
import { odfContent } from '../odt/odfContent.ts';
import type { OdtReader } from '../odt/odtRuns.ts';
import { said } from '../odt/odtStyles.ts';
import { childAt, elementsOf, type XmlElement } from '../office/xmlTree.ts';
import type { Opener } from '../pieces/opened.ts';
import { blocksOf, type Piece } from '../pieces/blocks.ts';
import { textOfRuns } from '../pieces/runs.ts';
import { hasNoSign, withAllDigits } from './cellTexts.ts';
import type { PlacedDrawing, Merge } from './sheetTables.ts';
import {
  CELLS_MAX,
  characterAllowance,
  DAMAGED_WORKBOOK,
  openSheets,
  TooManyCells,
  type Sheet,
} from './openSheets.ts';

const MIME_TYPE = 'application/vnd.oasis.opendocument.spreadsheet';
const ROW_GROUPS = new Set(['table:table-rows', 'table:table-row-group', 'table:table-header-rows']);
/** Of a sheet of Calc. What lies beyond is not shown by it either. */
const ROWS_MAX = 1_048_576;
const COLUMNS_MAX = 16_384;

/** Opens an OpenDocument spreadsheet: a page for each sheet that has something to show. */
export const openOds: Opener = ({ bytes }) =>
  Promise.resolve(
    openSheets({
      mimeType: MIME_TYPE,
      read: () => {
        const { content, reader } = odfContent(bytes);
        const tables = elementsOf(childAt(content, 'office:body', 'office:spreadsheet'), 'table:table');
        const shown = tables.filter((table) => isShown(table, reader));
        const filled = { cells: 0, count: characterAllowance(bytes.length) };
        const notComputed: string[] = [];
        const sheets = shown.map((table) => sheetOf(table, { reader, filled, notComputed }));
        return { sheets, hasHidden: shown.length < tables.length, notComputed };
      },
      detailOf: () => DAMAGED_WORKBOOK,
    }),
  );

const isShown = ({ attributes }: XmlElement, { styles }: OdtReader): boolean =>
  said(styles.chainOf('table', attributes['table:style-name']), 'style:table-properties', 'table:display') !==
  'false';

/** One sheet as it is read. */
interface SheetReading {
  readonly reader: OdtReader;
  /** Of the whole workbook. */
  readonly filled: { cells: number; readonly count: (characters: number) => void };
  /** Cells with a formula and nothing else. */
  readonly notComputed: string[];
}

interface Filled {
  readonly rows: Map<number, Map<number, string>>;
  readonly merges: Merge[];
  readonly drawings: PlacedDrawing[];
}

function sheetOf(table: XmlElement, reading: SheetReading): Sheet {
  const into: Filled = { rows: new Map(), merges: [], drawings: [] };
  addDrawing(into, 0, drawnIn(childAt(table, 'table:shapes'), reading.reader));
  let at = 0;
  for (const row of rowsIn(table)) {
    const repeats = repeatsOf(row, 'table:number-rows-repeated');
    addRow(into, { row, at, repeats: Math.min(repeats, ROWS_MAX - at) }, reading);
    at += repeats;
    if (at >= ROWS_MAX) break;
  }
  const { rows, merges, drawings } = into;
  return { name: table.attributes['table:name'] ?? '', texts: { rows, merges }, drawings };
}

const rowsIn = (parent: XmlElement): readonly XmlElement[] =>
  elementsOf(parent).flatMap((child) => {
    if (child.name === 'table:table-row') return [child];
    return ROW_GROUPS.has(child.name) ? rowsIn(child) : [];
  });

interface Row {
  readonly row: XmlElement;
  /** From 0. */
  readonly at: number;
  readonly repeats: number;
}

/** Rows and cells that repeat stand as often as they say where they are filled; else they cost nothing. */
function addRow(
  into: Filled,
  { row, at, repeats }: Row,
  { reader, filled, notComputed }: SheetReading,
): void {
  const texts = new Map<number, string>();
  for (const { cell, column, until } of placesIn(row)) {
    const text = cell.name === 'table:table-cell' ? shownText(cell, reader) : '';
    addDrawing(into, at, drawnIn(cell, reader));
    if (isUncomputed(cell)) notComputed.push(utils.encode_cell({ r: at, c: column }));
    if (text === '') continue;
    filled.cells += (until - column) * repeats;
    if (filled.cells > CELLS_MAX) throw new TooManyCells();
    filled.count((text.length + 1) * (until - column) * repeats);
    for (let place = column; place < until; place += 1) texts.set(place, text);
    addMerge(into, cell, { row: at, column });
  }
  if (texts.size === 0) return;
  for (let place = at; place < at + repeats; place += 1) into.rows.set(place, texts);
}

interface CellRun {
  readonly cell: XmlElement;
  /** From 0; a cell that repeats stands until before `until`. */
  readonly column: number;
  readonly until: number;
}

function placesIn(row: XmlElement): readonly CellRun[] {
  const places: CellRun[] = [];
  let column = 0;
  for (const cell of elementsOf(row)) {
    if (!CELLS.has(cell.name)) continue;
    if (column >= COLUMNS_MAX) break;
    const until = Math.min(column + repeatsOf(cell, 'table:number-columns-repeated'), COLUMNS_MAX);
    places.push({ cell, column, until });
    column = until;
  }
  return places;
}

const CELLS = new Set(['table:table-cell', 'table:covered-table-cell']);

function repeatsOf({ attributes }: XmlElement, name: string): number {
  const repeats = Number(attributes[name] ?? '1');
  return Number.isSafeInteger(repeats) && repeats > 0 ? repeats : 1;
}

/** What the cell shows; of the few files that keep no text beside a value, the value. */
function shownText(cell: XmlElement, reader: OdtReader): string {
  const written = elementsOf(cell).filter(({ name }) => name.startsWith('text:'));
  const { attributes } = cell;
  if (written.length > 0)
    return numberText(oneLine(textOf(reader.readPieces({ ...cell, children: written }))), attributes);
  const value = VALUES.map((name) => attributes[name]).find((one) => one !== undefined);
  return oneLine(value ?? '');
}

/** A number with what its format hides: digits of long ones, and a minus that is a colour alone. */
function numberText(text: string, attributes: XmlElement['attributes']): string {
  const value = Number(attributes['office:value'] ?? NaN);
  if (!Number.isFinite(value)) return text;
  const digits = withAllDigits(text, value);
  // Letters may say which side an amount is on.
  const hasSide = attributes['office:value-type'] !== 'currency' && /\p{L}\s*$/u.test(text);
  return value < 0 && hasNoSign(text) && !hasSide ? `-${digits}` : digits;
}

const isUncomputed = ({ attributes, children }: XmlElement): boolean =>
  attributes['table:formula'] !== undefined &&
  attributes['office:value-type'] === undefined &&
  children.length === 0;

const VALUES = [
  'office:string-value',
  'office:date-value',
  'office:time-value',
  'office:boolean-value',
  'office:value',
];

const textOf = (pieces: readonly Piece[]): string =>
  pieces.map((piece) => (piece.kind === 'text' ? textOfRuns(piece.runs) : '')).join('\n');

function addMerge({ merges }: Filled, { attributes }: XmlElement, at: Pick<Merge, 'row' | 'column'>): void {
  const rows = Number(attributes['table:number-rows-spanned'] ?? '1');
  const columns = Number(attributes['table:number-columns-spanned'] ?? '1');
  if (!(rows >= 1 && columns >= 1 && rows * columns > 1)) return;
  merges.push({
    ...at,
    rows: Math.min(rows, ROWS_MAX - at.row),
    columns: Math.min(columns, COLUMNS_MAX - at.column),
  });
}

/** Text boxes lie over a sheet, or hang on a cell. */
const drawnIn = (parent: XmlElement | undefined, reader: OdtReader): readonly Piece[] =>
  elementsOf(parent)
    .filter(({ name }) => name.startsWith('draw:'))
    .flatMap((drawing) => reader.readPieces({ ...drawing, children: [drawing] }));

function addDrawing({ drawings }: Filled, row: number, pieces: readonly Piece[]): void {
  const blocks = blocksOf(pieces);
  if (blocks.length > 0) drawings.push({ row, blocks });
}
