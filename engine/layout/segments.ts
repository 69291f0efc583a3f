import type { Box } from '../document/document.ts';
import { around, heightOf, median, middleY, type PlacedWord, type Row, type Segment } from './content.ts';

/** A gap wider than this share of the font's height parts segments. */
const WIDE_GAP = 1;
/** Middles within this share of the smaller height stand on one line. */
const SAME_LINE = 0.4;

/** A raised word is lower than this share of the word beside it. */
const RAISED = 0.8;

/** Words joined to segments: side by side, on one line, without a wide gap. */
export function segmentsOf(words: readonly PlacedWord[], wideGap = WIDE_GAP): readonly Segment[] {
  const sorted = topDown(words);
  return linesOf(sorted).flatMap((line) => splitAtGaps(line, wideGap));
}

/** Groups words by height. A word joins the line whose last members stand level with it. */
function linesOf(sorted: readonly PlacedWord[]): readonly (readonly PlacedWord[])[] {
  const lines: { words: PlacedWord[]; middle: number; height: number }[] = [];
  for (const word of sorted) {
    const middle = middleY(word.box);
    const height = heightOf(word.box);
    const line = lines.at(-1);
    if (line !== undefined && Math.abs(middle - line.middle) <= SAME_LINE * Math.min(height, line.height)) {
      line.words.push(word);
      const count = line.words.length;
      line.middle += (middle - line.middle) / count;
      line.height += (height - line.height) / count;
    } else lines.push({ words: [word], middle, height });
  }
  return joinRaised(lines.map(({ words }) => words));
}

/** Small words between two lines (superscripts) go to the line that they touch. */
function joinRaised(lines: readonly PlacedWord[][]): readonly (readonly PlacedWord[])[] {
  lines.forEach((line, index) => {
    const hosts = [lines[index - 1], lines[index + 1]];
    if (!mayBeRaised(line, hosts)) return;
    const raised = new Map<PlacedWord, PlacedWord[]>();
    for (const word of line) {
      const host = hosts.find((other) => other?.some((one) => isRaisedAt(word, one)));
      if (host !== undefined) raised.set(word, host);
    }
    for (const [word, host] of raised) host.push(word);
    const rest = line.filter((word) => !raised.has(word));
    line.splice(0, line.length, ...rest);
  });
  return lines.filter((line) => line.length > 0);
}

/** Whether any word is low enough beside the highest of its neighbours: most lines are told by that. */
function mayBeRaised(
  line: readonly PlacedWord[],
  hosts: readonly (readonly PlacedWord[] | undefined)[],
): boolean {
  let least = Infinity;
  let most = 0;
  for (const { box } of line) if (heightOf(box) < least) least = heightOf(box);
  for (const host of hosts) for (const { box } of host ?? []) if (heightOf(box) > most) most = heightOf(box);
  return least < RAISED * most;
}

function isRaisedAt(word: PlacedWord, host: PlacedWord): boolean {
  if (!(heightOf(word.box) < RAISED * heightOf(host.box))) return false;
  const beside = word.box[0] - host.box[2];
  const overlap = Math.min(word.box[3], host.box[3]) - Math.max(word.box[1], host.box[1]);
  return beside > -1 && beside < 0.3 * host.size && overlap > 0.3 * heightOf(word.box);
}

function splitAtGaps(line: readonly PlacedWord[], wideGap: number): readonly Segment[] {
  const words = fromLeft(line);
  const segments: PlacedWord[][] = [];
  let end = -Infinity;
  for (const word of words) {
    const last = segments.at(-1);
    const size = Math.max(word.size, last?.at(-1)?.size ?? 0);
    if (last !== undefined && word.box[0] - end <= wideGap * size) last.push(word);
    else segments.push([word]);
    end = Math.max(end, word.box[2]);
  }
  return segments.map(segmentOf);
}

export const segmentOf = (words: readonly PlacedWord[]): Segment => ({
  words,
  box: around(words.map(({ box }) => box)),
  size: median(words.map(({ size }) => size)),
});

/** Boxes grouped to rows from top to bottom: those that overlap in height by half of the smaller. */
export function rowsOf<T extends { readonly box: Box }>(items: readonly T[]): readonly (readonly T[])[] {
  const rows: { items: T[]; top: number; bottom: number }[] = [];
  for (const item of topDown(items)) {
    const top = item.box[1];
    const bottom = item.box[3];
    const row = rows.at(-1);
    const shared = row === undefined ? 0 : Math.min(bottom, row.bottom) - Math.max(top, row.top);
    if (row !== undefined && shared > 0.5 * Math.min(bottom - top, row.bottom - row.top)) {
      row.items.push(item);
      row.top = (row.top * (row.items.length - 1) + top) / row.items.length;
      row.bottom = (row.bottom * (row.items.length - 1) + bottom) / row.items.length;
    } else rows.push({ items: [item], top, bottom });
  }
  return rows.map((row) => fromLeft(row.items));
}

interface Boxed {
  readonly box: Box;
}

/** By the heights of their middles, those at one height from left to right. */
export const topDown = <T extends Boxed>(items: readonly T[]): readonly T[] =>
  isInOrder(items, byHeight) ? items : [...items].sort(byHeight);

const byHeight = (a: Boxed, b: Boxed): number => middleY(a.box) - middleY(b.box) || a.box[0] - b.box[0];

/** By their left edges. */
export const fromLeft = <T extends Boxed>(items: readonly T[]): readonly T[] =>
  isInOrder(items, byLeft) ? items : [...items].sort(byLeft);

const byLeft = (a: Boxed, b: Boxed): number => a.box[0] - b.box[0];

/** Most are in order as they come, and need no sorting. */
function isInOrder<T extends Boxed>(items: readonly T[], order: (a: T, b: T) => number): boolean {
  for (let at = 1; at < items.length; at += 1) {
    const [before, item] = [items[at - 1], items[at]];
    if (before !== undefined && item !== undefined && !(order(before, item) <= 0)) return false;
  }
  return true;
}

/** Segments as rows. */
export const segmentRows = (segments: readonly Segment[]): readonly Row[] =>
  rowsOf(segments).map((row) => ({ segments: row, box: around(row.map(({ box }) => box)) }));
