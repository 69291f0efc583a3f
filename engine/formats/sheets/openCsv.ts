import Papa from 'papaparse';
import { tableOf, type Document, type TableCell, type TableBlock } from '../../document/document.ts';
import { linesOfBlock, markupPage } from '../pieces/flow.ts';
import type { ParseFailure } from '../../ports/documentParser.ts';
import type { OpenedDocument, SourceFile } from '../pieces/opened.ts';
import { textDocument } from '../text/textDocument.ts';
import { charactersIn, pagesOf } from '../../document/pages.ts';

/** A table on so many pages: rows in equal shares, each page's table with the header of the whole. */
function pagedTable({
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

const CELLS_MAX = 2_000_000;
const DELIMITERS = [',', ';', '\t', '|'];

/** Opens a text of values: one table, whatever parts its columns. Its pages are by its characters. */
export function openCsv(file: SourceFile): Promise<OpenedDocument | ParseFailure> {
  const { text = '' } = file;
  const { data } = Papa.parse<string[]>(text.trimEnd(), {
    delimitersToGuess: DELIMITERS,
    skipEmptyLines: 'greedy',
  });
  const rows = data.map((row) => row.map((cell) => cell.trim()));
  const cells = rows.reduce((sum, row) => sum + row.length, 0);
  if (cells > CELLS_MAX)
    return Promise.resolve({
      kind: 'unreadable',
      detail: `The table has ${cells} cells; at most ${CELLS_MAX} are read.`,
    });
  const pages = pagesOf({ by: 'characters', characters: charactersIn(text) });
  if (rows.every((row) => row.length < 2)) return Promise.resolve(openLines(text, pages));
  const document = pagedTable({ mimeType: 'text/csv', table: tableOf(rows, 1), pages });
  return Promise.resolve({
    kind: 'open',
    mimeType: 'text/csv',
    pages,
    read: () => Promise.resolve({ kind: 'ok', document }),
  });
}

/** One value a line is a text. */
function openLines(text: string, pages: number): OpenedDocument {
  const document = { ...textDocument(text, pages), mimeType: 'text/csv' };
  return { kind: 'open', mimeType: 'text/csv', pages, read: () => Promise.resolve({ kind: 'ok', document }) };
}
