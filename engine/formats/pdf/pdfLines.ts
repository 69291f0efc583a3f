import type { Box, Line, Word } from '../../document/document.ts';
import { around, middleY, type PlacedWord } from '../../layout/content.ts';
import { inLogicalOrder } from '../../layout/direction.ts';
import { fromLeft, topDown } from '../../layout/segments.ts';

/** Words whose middles lie within this share of the lower word's height stand on one line. */
const SAME_LINE = 0.45;

/** The words of a page as lines from top to bottom, each as it reads. */
export function pdfLines(words: readonly PlacedWord[]): readonly Line[] {
  const rows: PlacedWord[][] = [];
  for (const word of topDown(words)) {
    const row = rows.at(-1);
    const last = row?.at(-1);
    if (row !== undefined && last !== undefined && sameLine(last.box, word.box)) row.push(word);
    else rows.push([word]);
  }
  return rows.map(lineOf);
}

const sameLine = (a: Box, b: Box): boolean =>
  Math.abs(middleY(a) - middleY(b)) <= SAME_LINE * Math.min(a[3] - a[1], b[3] - b[1]);

function lineOf(row: readonly PlacedWord[]): Line {
  const words = inLogicalOrder(fromLeft(row));
  return {
    text: words.map(({ text }) => text).join(' '),
    box: around(words.map(({ box }) => box)),
    words: words.map(wordOf),
  };
}

/** Few words say which engine read them. */
function wordOf({ text, box, confidence, readBy, size: fontSize, bold }: PlacedWord): Word {
  if (readBy === undefined) return { text, box, confidence, fontSize, bold };
  return { text, box, confidence, readBy, fontSize, bold };
}
