import { type Box, type DocumentPage, type TableBlock, tableGrid } from './document.ts';
import { oneLine } from './plainText.ts';
import { withWholeTables } from './wholeBlocks.ts';

/** A table as rows of texts; a cell of several rows or columns stands in each of its places. */
export interface TableRows {
  /** The page on which it begins. */
  readonly page: number;
  readonly box: Box | null;
  /** The heading above it, where there is one on its page. */
  readonly title: string | null;
  readonly headerRows: number;
  readonly rows: readonly (readonly string[])[];
}

const rowsOf = (table: TableBlock): TableRows['rows'] => tableGrid(table, ({ text }) => oneLine(text));

function tablesOn({ page, blocks }: DocumentPage): readonly TableRows[] {
  let title: string | null = null;
  const tables: TableRows[] = [];
  for (const block of blocks) {
    if (block.kind === 'heading') title = oneLine(block.text);
    if (block.kind === 'table')
      tables.push({ page, box: block.box, title, headerRows: block.headerRows, rows: rowsOf(block) });
  }
  return tables;
}

/** The tables of some pages in reading order; one that runs over several stands whole where it begins. */
export const tableRowsOf = (pages: readonly DocumentPage[]): readonly TableRows[] =>
  withWholeTables(pages).flatMap(tablesOn);
