import type { Document, DocumentPage, Line, Word } from '../../document/document.ts';

/** A text at a place of a page, points from the top left; `right` aligns its end there. */
export type Placed = readonly [x: number, y: number, text: string, right?: 'right'];

const LETTER = 5.2;
const SPACE = 2.8;
const HEIGHT = 10;

function wordsOf([x, y, text, right]: Placed): readonly Word[] {
  const parts = text.split(' ');
  const width = parts.reduce((sum, part) => sum + part.length * LETTER + SPACE, -SPACE);
  let at = right === undefined ? x : x - width;
  return parts.map((part) => {
    const x1 = at + part.length * LETTER;
    const word: Word = {
      text: part,
      box: [at, y, x1, y + HEIGHT],
      confidence: 1,
      fontSize: HEIGHT,
      bold: false,
    };
    at = x1 + SPACE;
    return word;
  });
}

function pageOf(placed: readonly Placed[], page: number, width: number): DocumentPage {
  const tops = [...new Set(placed.map(([, y]) => y))].sort((a, b) => a - b);
  const lines = tops.map((top): Line => {
    const words = placed
      .filter(([, y]) => y === top)
      .flatMap(wordsOf)
      .sort((a, b) => (a.box?.[0] ?? 0) - (b.box?.[0] ?? 0));
    return { text: words.map(({ text }) => text).join(' '), box: null, words };
  });
  return { page, status: 'ok', source: 'text_layer', detail: null, width, height: 842, lines, blocks: [] };
}

/** A document of pages on which texts stand where they are put. */
export const laidOut = (pages: readonly (readonly Placed[])[], width = 595): Document => ({
  mimeType: 'application/pdf',
  pages: pages.map((placed, index) => pageOf(placed, index + 1, width)),
  warnings: [],
});
