import Papa from 'papaparse';
import { tableOf } from '../../document/tableGrid.ts';
import type { ParseFailure } from '../../ports/documentParser.ts';
import type { OpenedDocument, SourceFile } from '../opened.ts';
import { textDocument } from '../text/textDocument.ts';
import { charactersIn, pagesOf } from '../../document/pages.ts';
import { pagedTable } from './pagedTable.ts';

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
