import { tableGrid, type Block, type Line, type Word } from './document.ts';

/** The lines of a block without geometry: of a table one a row, with a tab between its cells. */
export function linesOfBlock(block: Block): readonly Line[] {
  if (block.kind === 'table')
    return tableGrid(block).map((row) => lineOf(row.map((cell) => cell.replace(/\s+/g, ' ')).join('\t')));
  return block.text.split('\n').map(lineOf);
}

/** A line of a format without geometry. */
export const lineOf = (text: string): Line => ({ text, box: null, words: markupWords(text) });

/** The words of a text without geometry. */
export const markupWords = (text: string): readonly Word[] =>
  text
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => ({ text: word, box: null, confidence: 1, fontSize: null, bold: false }));
