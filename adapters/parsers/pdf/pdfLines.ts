import type { TextItem } from '@llamaindex/liteparse';
import { cleanText } from '../../../domain/document/cleanText.ts';
import type { Box, Line, Word } from '../../../domain/document/document.ts';

type PlacedWord = Word & { readonly box: Box };

/** Words whose middles lie within this share of the lower word's height stand on one line. */
const SAME_LINE = 0.45;

/** The words of a page as lines from top to bottom, each from left to right. */
export function pdfLines(items: readonly TextItem[]): readonly Line[] {
  const words = items.flatMap(wordsOf).sort((a, b) => middle(a.box) - middle(b.box) || a.box[0] - b.box[0]);
  const rows: PlacedWord[][] = [];
  for (const word of words) {
    const row = rows.at(-1);
    const last = row?.at(-1);
    if (row !== undefined && last !== undefined && sameLine(last.box, word.box)) row.push(word);
    else rows.push([word]);
  }
  return rows.map(lineOf);
}

function wordsOf(item: TextItem): readonly PlacedWord[] {
  const style = {
    confidence: item.confidence ?? 1,
    fontSize: item.fontSize ?? null,
    bold: isBold(item),
  };
  const parts = item.words !== undefined && item.words.length > 0 ? item.words : [item];
  return parts
    .map(({ text, x, y, width, height }) => ({
      text: cleanText(text).replace(/\s+/g, ' ').trim(),
      box: boxOf([x, y, x + width, y + height]),
      ...style,
    }))
    .filter(({ text }) => text !== '');
}

const isBold = ({ fontName, fontWeight }: TextItem): boolean =>
  /bold|black|heavy|semib/i.test(fontName ?? '') ||
  (fontWeight !== undefined && fontWeight >= 600 && fontWeight <= 1000);

const middle = ([, top, , bottom]: Box): number => (top + bottom) / 2;

const sameLine = (a: Box, b: Box): boolean =>
  Math.abs(middle(a) - middle(b)) <= SAME_LINE * Math.min(a[3] - a[1], b[3] - b[1]);

function lineOf(row: readonly PlacedWord[]): Line {
  const words = [...row].sort((a, b) => a.box[0] - b.box[0]);
  return { text: words.map(({ text }) => text).join(' '), box: unionOf(words.map(({ box }) => box)), words };
}

/** The smallest box around all. */
export function unionOf(boxes: readonly Box[]): Box | null {
  const [first, ...rest] = boxes;
  if (first === undefined) return null;
  return rest.reduce<Box>(
    (all, box) => [
      Math.min(all[0], box[0]),
      Math.min(all[1], box[1]),
      Math.max(all[2], box[2]),
      Math.max(all[3], box[3]),
    ],
    first,
  );
}

/** Hundredths of a point are enough, and read well. */
const boxOf = ([x0, y0, x1, y1]: Box): Box => [cents(x0), cents(y0), cents(x1), cents(y1)];
const cents = (points: number): number => Math.round(points * 100) / 100;
