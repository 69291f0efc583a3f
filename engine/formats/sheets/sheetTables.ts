import type { Block, TableCell } from '../../document/document.ts';
import type { PlacedDrawing } from './drawings.ts';
import type { TableBlock } from '../../document/tableGrid.ts';

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

interface Region {
  top: number;
  left: number;
  bottom: number;
  right: number;
}

/**
 * The tables of a sheet, from top to bottom: what stands together, parted by empty rows and columns. A
 * text by itself, or one above a table and as wide as it, is a paragraph. Charts and text boxes stand where they begin.
 */
export function sheetBlocks(sheet: SheetTexts, drawings: readonly PlacedDrawing[]): readonly Block[] {
  const tables = regionsOf(sheet).map((region) => ({ row: region.top, blocks: regionBlocks(sheet, region) }));
  return [...tables, ...drawings].sort((a, b) => a.row - b.row).flatMap(({ blocks }) => blocks);
}

/** Filled places that touch, also at their corners, are one region; a merged cell fills all its places. */
function regionsOf({ rows, merges }: SheetTexts): readonly Region[] {
  const spans = new Map(merges.map((merge) => [`${merge.row}:${merge.column}`, merge]));
  const regions: Region[] = [];
  for (const [row, cells] of [...rows].sort((a, b) => a[0] - b[0])) {
    for (const column of [...cells.keys()].sort((a, b) => a - b)) {
      const merge = spans.get(`${row}:${column}`);
      addPlace(regions, {
        top: row,
        left: column,
        bottom: row + (merge?.rows ?? 1) - 1,
        right: column + (merge?.columns ?? 1) - 1,
      });
    }
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

function regionBlocks(sheet: SheetTexts, region: Region): readonly Block[] {
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
function isTitleRow({ rows, merges }: SheetTexts, { left, right }: Region, row: number): boolean {
  const cells = [...(rows.get(row)?.keys() ?? [])].filter((column) => column >= left && column <= right);
  const [only, ...others] = cells;
  if (only === undefined || others.length > 0 || right - left < 1) return false;
  const merge = merges.find((one) => one.row === row && one.column === only);
  return merge === undefined ? only === left : merge.rows === 1 && merge.columns >= right - left;
}

const paragraphs = ({ rows }: SheetTexts, row: number, column?: number): readonly Block[] =>
  [...(rows.get(row) ?? [])]
    .filter(([at]) => column === undefined || at === column)
    .map(([, text]) => ({ kind: 'paragraph', text, markdown: text, box: null }));

function tableBlock({ rows, merges }: SheetTexts, { top, left, bottom, right }: Region): TableBlock {
  const spans = new Map(merges.map((merge) => [`${merge.row}:${merge.column}`, merge]));
  const cells: TableCell[] = [];
  for (let row = top; row <= bottom; row += 1) {
    for (const [column, text] of rows.get(row) ?? []) {
      if (column < left || column > right) continue;
      const merge = spans.get(`${row}:${column}`);
      cells.push({
        text,
        box: null,
        row: row - top,
        column: column - left,
        rowSpan: Math.min(merge?.rows ?? 1, bottom - row + 1),
        columnSpan: Math.min(merge?.columns ?? 1, right - column + 1),
      });
    }
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
