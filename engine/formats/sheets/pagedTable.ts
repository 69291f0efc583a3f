import type { Document, TableCell } from '../../document/document.ts';
import type { TableBlock } from '../../document/tableGrid.ts';
import { linesOfBlock, markupPage } from '../flow.ts';

/** A table on so many pages: rows in equal shares, each page's table with the header of the whole. */
export function pagedTable({
  mimeType,
  table,
  pages,
}: {
  readonly mimeType: string;
  readonly table: TableBlock;
  readonly pages: number;
}): Document {
  const body = Math.max(1, Math.ceil((table.rows - table.headerRows) / pages));
  const cells = Array.from({ length: pages }, (): TableCell[] => []);
  const header: TableCell[] = [];
  for (const cell of table.cells) {
    if (cell.row < table.headerRows) header.push(cell);
    else {
      const page = Math.floor((cell.row - table.headerRows) / body);
      cells[page]?.push({ ...cell, row: cell.row - page * body });
    }
  }
  const all = cells.map((own, index) => {
    const rows = Math.min(body, table.rows - table.headerRows - index * body);
    if (rows <= 0) return markupPage({ page: index + 1, blocks: [], lines: [] });
    const part: TableBlock = { ...table, rows: rows + table.headerRows, cells: [...header, ...own] };
    const block: TableBlock = index === 0 ? part : { ...part, continues: 'table' };
    return markupPage({ page: index + 1, blocks: [block], lines: linesOfBlock(block) });
  });
  const only = table.rows === table.headerRows ? table : undefined;
  const first =
    only === undefined
      ? all
      : [markupPage({ page: 1, blocks: [only], lines: linesOfBlock(only) }), ...all.slice(1)];
  return { mimeType, pages: first, warnings: [] };
}
