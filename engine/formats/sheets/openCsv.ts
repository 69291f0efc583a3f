import Papa from 'papaparse';
import { tableOf } from '../../document/document.ts';
import type { ParseFailure } from '../../ports/documentParser.ts';
import { COLUMNS_MAX } from '../pieces/blocks.ts';
import { openFlow } from '../pieces/flow.ts';
import type { OpenedDocument, SourceFile } from '../pieces/opened.ts';
import { textBlocks } from '../text/textDocument.ts';
import { charactersIn } from '../../document/pages.ts';

const CELLS_MAX = 2_000_000;
const PLACES_MAX = 8_000_000;
export const DELIMITERS = [',', ';', '\t', '|'];
/** A first line for spreadsheet programs alone, which they do not show. */
const SEPARATOR = /^\s{0,8}"?sep=([^\w\s"]|\t)"?[^\S\n]*\n/i;

/** A text of values without such a line, and the delimiter that it tells; undefined: none. */
export const separatorOf = (
  text: string,
): { readonly shown: string; readonly delimiter: string | undefined } => {
  const told = SEPARATOR.exec(text);
  return { shown: text.slice(told?.[0].length ?? 0), delimiter: told?.[1] };
};

/** Opens a text of values: one table, whatever parts its columns. Its pages are by its characters. */
export function openCsv(file: SourceFile): Promise<OpenedDocument | ParseFailure> {
  const { text = '' } = file;
  const { shown, delimiter } = separatorOf(text);
  const { data } = Papa.parse<string[]>(shown.trimEnd(), {
    ...(delimiter === undefined ? { delimitersToGuess: DELIMITERS } : { delimiter }),
    skipEmptyLines: 'greedy',
  });
  const rows = data.map((row) => row.map((cell) => cell.trim()));
  const cells = rows.reduce((sum, row) => sum + row.length, 0);
  if (cells > CELLS_MAX)
    return Promise.resolve({
      kind: 'unreadable',
      detail: `The table has ${cells} cells; at most ${CELLS_MAX} are read.`,
    });
  const columns = rows.reduce((widest, row) => Math.max(widest, row.length), 0);
  // One value a line is a text; so is what would be a table of empty cells, for it has one very long row.
  const isTable = columns > 1 && columns <= COLUMNS_MAX && columns * rows.length <= PLACES_MAX;
  const blocks = isTable ? [tableOf(rows, 1)] : textBlocks(shown);
  return Promise.resolve(openFlow({ mimeType: 'text/csv', blocks, characters: charactersIn(shown) }));
}
