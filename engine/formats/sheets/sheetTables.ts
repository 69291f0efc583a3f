import type { Block, TableCell, TableBlock } from '../../document/document.ts';
import { chartsIn } from '../office/charts.ts';
import { textPieces } from '../office/drawingText.ts';
import { readPart, relationshipsOf } from '../office/ooxmlPackage.ts';
import { childAt, elementsOf, findAll, textIn } from '../office/xmlTree.ts';
import { blocksOf, RefusedDocument } from '../pieces/blocks.ts';

/** A chart or text box at the row where its upper edge lies. */
export interface PlacedDrawing {
  readonly row: number;
  readonly blocks: readonly Block[];
}

type Members = ReadonlyMap<string, Uint8Array>;

const DRAWINGS_MAX = 100;
/** Pictures and shapes without text stand among them. */
const ANCHORS_MAX = 10_000;

/** What the charts and text boxes of a workbook show, as it keeps them, by sheet name. */
export function drawingsBySheet(members: Members): ReadonlyMap<string, readonly PlacedDrawing[]> {
  try {
    return new Map([...sheetParts(members)].map(([name, part]) => [name, drawingsOf(members, part)]));
  } catch (error) {
    if (error instanceof RefusedDocument) return new Map();
    throw error;
  }
}

/** The part of each sheet, by its name. */
export function sheetParts(members: Members): ReadonlyMap<string, string> {
  const targets = new Map(relationshipsOf(members, 'xl/workbook.xml').map(({ id, target }) => [id, target]));
  const sheets = elementsOf(childAt(readPart(members.get('xl/workbook.xml')), 'sheets'), 'sheet');
  return new Map(
    sheets.map(({ attributes }) => [attributes['name'] ?? '', targets.get(attributes['r:id'] ?? '') ?? '']),
  );
}

const drawingsOf = (members: Members, sheet: string): readonly PlacedDrawing[] =>
  relationshipsOf(members, sheet)
    .filter(({ type }) => type === 'drawing')
    .slice(0, DRAWINGS_MAX)
    .flatMap(({ target }) => drawingsIn(members, target))
    .slice(0, DRAWINGS_MAX)
    .sort((a, b) => a.row - b.row);

function drawingsIn(members: Members, drawing: string): readonly PlacedDrawing[] {
  const targets = new Map(relationshipsOf(members, drawing).map(({ id, target }) => [id, target]));
  const anchors = elementsOf(readPart(members.get(drawing))).slice(0, ANCHORS_MAX);
  return anchors.flatMap((anchor) => {
    const texts = findAll(anchor, 'xdr:txBody').flatMap((body) => textPieces(body));
    const blocks = [...blocksOf(texts), ...chartsIn(anchor, { targets, members })];
    return blocks.length === 0
      ? []
      : [{ row: Number(textIn(childAt(anchor, 'xdr:from', 'xdr:row'))) || 0, blocks }];
  });
}

/** A cell that covers several places. */
export interface Merge {
  readonly row: number;
  readonly column: number;
  readonly rows: number;
  readonly columns: number;
}

/** The shown texts of a sheet by row and column; undefined where nothing is. */
export interface SheetTexts {
  readonly rows: ReadonlyMap<number, ReadonlyMap<number, string>>;
  readonly merges: readonly Merge[];
}

/** A sheet with more islands than that is no arrangement of tables: it is taken for one. */
const REGIONS_MAX = 1000;
/** Places in one table, filled or not. Markdown of more would be longer than it may be. */
const PLACES_MAX = 4_000_000;

interface Region {
  top: number;
  left: number;
  bottom: number;
  right: number;
}

/** A sheet with its merged cells at hand. */
interface Laid extends Pick<SheetTexts, 'rows'> {
  readonly mergeAt: (row: number, column: number) => Merge | undefined;
}

/**
 * The tables of a sheet, from top to bottom: what stands together, parted by empty rows and columns. A
 * text by itself, or one above a table and as wide as it, is a paragraph. Charts and text boxes stand where they begin.
 */
export function sheetBlocks(
  { rows, merges }: SheetTexts,
  drawings: readonly PlacedDrawing[],
): readonly Block[] {
  const spans = new Map(merges.map((merge) => [`${merge.row}:${merge.column}`, merge]));
  const sheet: Laid = { rows, mergeAt: (row, column) => spans.get(`${row}:${column}`) };
  const tables = regionsOf(sheet).map((region) => ({ row: region.top, blocks: regionBlocks(sheet, region) }));
  return [...tables, ...drawings].sort((a, b) => a.row - b.row).flatMap(({ blocks }) => blocks);
}

/** The least region with all that is filled; undefined where nothing is. */
function extentOf({ rows }: Laid): Region | undefined {
  let extent: Region | undefined;
  for (const [row, cells] of rows)
    for (const column of cells.keys()) {
      const place = { top: row, left: column, bottom: row, right: column };
      if (extent === undefined) extent = place;
      else grow(extent, place);
    }
  return extent;
}

/**
 * Filled places that touch, also at their corners, are one region; a merged cell fills its places as far as the
 * sheet is filled, for a file may claim any.
 */
function regionsOf(sheet: Laid): readonly Region[] {
  const extent = extentOf(sheet);
  if (extent === undefined) return [];
  const regions: Region[] = [];
  for (const [row, cells] of [...sheet.rows].sort((a, b) => a[0] - b[0])) {
    for (const column of [...cells.keys()].sort((a, b) => a - b)) {
      const merge = sheet.mergeAt(row, column);
      addPlace(regions, {
        top: row,
        left: column,
        bottom: Math.min(row + (merge?.rows ?? 1) - 1, extent.bottom),
        right: Math.min(column + (merge?.columns ?? 1) - 1, extent.right),
      });
    }
    if (regions.length > REGIONS_MAX) return [extent];
  }
  return joined(regions).sort((a, b) => a.top - b.top || a.left - b.left);
}

const touches = (a: Region, b: Region): boolean =>
  a.top <= b.bottom + 1 && b.top <= a.bottom + 1 && a.left <= b.right + 1 && b.left <= a.right + 1;

function addPlace(regions: Region[], place: Region): void {
  const region = regions.findLast((one) => touches(one, place));
  if (region === undefined) regions.push(place);
  else grow(region, place);
}

function grow(region: Region, by: Region): void {
  region.top = Math.min(region.top, by.top);
  region.left = Math.min(region.left, by.left);
  region.bottom = Math.max(region.bottom, by.bottom);
  region.right = Math.max(region.right, by.right);
}

/** Regions that have grown together are one. */
function joined(regions: readonly Region[]): Region[] {
  let kept = [...regions];
  for (;;) {
    const next: Region[] = [];
    for (const region of kept) {
      const host = next.find((other) => touches(other, region));
      if (host === undefined) next.push({ ...region });
      else grow(host, region);
    }
    if (next.length === kept.length) return next;
    kept = next;
  }
}

function regionBlocks(sheet: Laid, region: Region): readonly Block[] {
  const blocks: Block[] = [];
  let { top } = region;
  while (top < region.bottom && isTitleRow(sheet, region, top)) {
    blocks.push(...paragraphs(sheet, top));
    top += 1;
  }
  const { left, bottom, right } = region;
  if (top === bottom && left === right) return [...blocks, ...paragraphs(sheet, top, left)];
  return [...blocks, tableBlock(sheet, { top, left, bottom, right })];
}

/** One text over a table of several columns. */
function isTitleRow({ rows, mergeAt }: Laid, { left, right }: Region, row: number): boolean {
  const cells = [...(rows.get(row)?.keys() ?? [])].filter((column) => column >= left && column <= right);
  const [only, ...others] = cells;
  if (only === undefined || others.length > 0 || right - left < 1) return false;
  const merge = mergeAt(row, only);
  return merge === undefined ? only === left : merge.rows === 1 && merge.columns >= right - left;
}

const paragraphs = ({ rows }: Laid, row: number, column?: number): readonly Block[] =>
  [...(rows.get(row) ?? [])]
    .filter(([at]) => column === undefined || at === column)
    .map(([, text]) => ({ kind: 'paragraph', text, markdown: text, box: null }));

function tableBlock(sheet: Laid, region: Region): TableBlock {
  const { top, left, bottom, right } = region;
  if ((bottom - top + 1) * (right - left + 1) > PLACES_MAX)
    throw new RefusedDocument('The workbook has a table that is too large.');
  const cells: TableCell[] = [];
  for (let row = top; row <= bottom; row += 1) {
    for (const [column, text] of sheet.rows.get(row) ?? [])
      if (column >= left && column <= right) cells.push(cellAt(sheet, region, { row, column, text }));
  }
  return {
    kind: 'table',
    rows: bottom - top + 1,
    columns: right - left + 1,
    headerRows: 1,
    cells,
    box: null,
  };
}

function cellAt(
  { mergeAt }: Laid,
  { top, left, bottom, right }: Region,
  { row, column, text }: { readonly row: number; readonly column: number; readonly text: string },
): TableCell {
  const merge = mergeAt(row, column);
  return {
    text,
    box: null,
    row: row - top,
    column: column - left,
    rowSpan: Math.min(merge?.rows ?? 1, bottom - row + 1),
    columnSpan: Math.min(merge?.columns ?? 1, right - column + 1),
  };
}
