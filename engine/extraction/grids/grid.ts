import type { Box, Word } from '../../document/document.ts';
import { folded } from '../../kernel/text.ts';
import type { Field } from '../fields/fields.ts';
import type { Segment } from '../places/layout.ts';

/** A cell with the words that it is made of. */
export interface Cell {
  readonly text: string;
  readonly page: number;
  readonly words: readonly Word[];
  /** Places that it covers. */
  readonly columnSpan: number;
  /** It stands in a column of debits. */
  readonly isOut?: boolean;
}

/** One row of a grid by column; a spanning cell stands in each place that it covers. */
export type GridRow = readonly (Cell | undefined)[];

/** Rows and columns of texts, from a table, or from the cells of a sheet. */
export interface Grid {
  readonly rows: readonly GridRow[];
  readonly columns: number;
  readonly page: number;
  /** What stands above it: headings and texts, the nearest first. */
  readonly above: readonly string[];
  /** Short texts above it, the nearest first: those of blocks of labels each for itself. */
  readonly about: readonly Cell[];
  /** The text right above it, where that may be its title. */
  readonly title: Cell | undefined;
  /** Nothing stands between it and the table before it but the end of the page. */
  readonly follows: boolean;
  /** The layout says that it goes on with the table before it. */
  readonly continues: boolean;
  /** Its rows are the columns of the document: the first names the members, each other is a record. */
  readonly isTurned: boolean;
  /** A row of names of groups of columns, each over all columns of its group. */
  readonly overColumns: (row: number) => GridRow;
}

/** A name over several columns that is no spanning cell stands over the first of them. */
export const fromTheLeft = (row: GridRow): GridRow => {
  let group: Cell | undefined;
  return row.map((cell, column) => {
    group = cell ?? (column === 0 ? undefined : group);
    return cell ?? group;
  });
};

/** A cell as the text that typed values are read from. */
export function segmentOf({ text, page, words }: Cell): Segment {
  const starts: number[] = [];
  let at = 0;
  for (const word of words) {
    starts.push(at);
    at += word.text.length + 1;
  }
  const joined = words.map((word) => word.text).join(' ');
  const place = { index: 0, row: 0, page, x0: 0, x1: 0, y0: 0, y1: 0 };
  return { ...place, text: joined === '' ? text : joined, starts, words };
}

/** The words of a text that has no places of its own, all in one box. */
export const plainWords = (text: string, box: Box | null): readonly Word[] =>
  text
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => ({ text: word, box, confidence: 1, fontSize: null, bold: false }));

/** What stands for nothing: "-", "—", "n/a", "./.". */
const NOTHING = /^(?:[-–—−./\s…*]{0,12}|n\/?a\.?|nil|none)$/i;

/** A cell that says nothing. */
export const isEmpty = (cell: Cell | undefined): boolean =>
  cell === undefined || NOTHING.test(cell.text.trim());

/** The cells of a row, each once. */
export const cellsIn = (row: GridRow): readonly Cell[] => [
  ...new Set(row.filter((cell): cell is Cell => cell !== undefined && cell.text.trim() !== '')),
];

/** The text of a cell for comparing headers. */
export const sameText = (a: string, b: string): boolean =>
  folded(a).replace(/\s+/g, ' ').trim() === folded(b).replace(/\s+/g, ' ').trim();

/** A grid whose columns were told by a header. */
export interface Headed {
  readonly grid: Grid;
  /** The last row of its header; −1 where it has none. */
  readonly header: number;
  /** Rows of the header. */
  readonly depth: number;
  readonly mapped: ReadonlyMap<Field, Place>;
  /** Mean over all fields of how well a header names them. */
  readonly score: number;
}

/** The column of a field, and how well its header names it. */
export interface Place {
  readonly column: number;
  readonly score: number;
}
