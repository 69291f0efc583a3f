import type { Box } from '../document/document.ts';
import { middleY, type PlacedWord, type Pixels } from '../layout/content.ts';
import { paidForLine } from './allowance.ts';
import { ALONE } from './bestReading.ts';
import { marksBeside } from './marks.ts';
import { readingWidth, readLine } from './ppocr/readLines.ts';
import { letterHeight, type SecondReading } from './secondEngine.ts';
import { lineAround } from './sharedLines.ts';

/** A page with more lone marks than this shows a drawing. */
const MARKS_MAX = 150;
/** Of usual heights: a mark that stands nearer to a word than this is part of it, and not alone. */
const APART = 0.6;
/** A word so many usual heights high, not as wide, and read with less confidence than this is no word. */
const STACKED = 1.6;
const DOUBTED = 0.8;
/** How far a mark's middle may lie from that of the words beside it. */
const LEVEL = 0.4;
/** Words so far above and below are of the mark's column. */
const COLUMN = 12;
/** So many of a column's words, of all, are numbers where it is one of numbers. */
const NUMBERS = 0.6;

/**
 * The words and what Tesseract leaves out beside them: a digit alone in the cell of a table, which it takes for
 * dirt. A mark is read where words stand on its line and in its column, apart from it; in a column of numbers
 * only as a number.
 */
export async function withLoneMarks(
  pixels: Pixels,
  words: readonly PlacedWord[],
  { networks, allowance }: Pick<SecondReading, 'networks' | 'allowance'>,
): Promise<readonly PlacedWord[]> {
  const height = letterHeight(words);
  if (height === undefined) return words;
  const sound = words.filter((word) => !isStacked(word, height));
  const boxes = sound.map(({ box }) => box);
  const marks = marksBeside(pixels, boxes, height);
  const cells = marks.length > MARKS_MAX ? [] : marks.filter((mark) => isCell(mark, sound, height));
  const read: PlacedWord[] = [];
  for (const cell of cells) {
    const line = lineAround([cell]);
    if (!paidForLine(allowance, readingWidth(line))) break;
    const isNumber = standsAmongNumbers(cell, sound, height);
    const allowed = isNumber ? isOfNumber : undefined;
    const { words: found, confidence } = await readLine(networks, { pixels, line, allowed });
    if (confidence >= ALONE && found.some(({ text }) => /[\p{L}\p{N}]/u.test(text))) read.push(...found);
  }
  const isRead = ({ box }: PlacedWord): boolean => read.some((word) => touches(box, word.box));
  return [...words.filter((word) => !isStacked(word, height) || !isRead(word)), ...read];
}

/** Digits of one column, one below the other, that were taken for one word. */
function isStacked({ box, confidence }: PlacedWord, height: number): boolean {
  const [wide, high] = [box[2] - box[0], box[3] - box[1]];
  return confidence < DOUBTED && high >= STACKED * height && wide < high;
}

const touches = (a: Box, b: Box): boolean => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];

const isOfNumber = (character: string): boolean => /^[\d.,%+\-]$/.test(character);

/** Whether words stand on a mark's line and in its column, and none beside it so near that it belongs to it. */
function isCell(mark: Box, words: readonly PlacedWord[], height: number): boolean {
  const beside = words.filter(({ box }) => Math.abs(middleY(box) - middleY(mark)) <= LEVEL * height);
  const isFree = beside.every(
    ({ box }) => box[0] - mark[2] >= APART * height || mark[0] - box[2] >= APART * height,
  );
  return beside.length > 0 && isFree && columnOf(mark, words, height).length > 0;
}

const columnOf = (mark: Box, words: readonly PlacedWord[], height: number): readonly PlacedWord[] =>
  words.filter(
    ({ box }) =>
      box[0] < mark[2] &&
      box[2] > mark[0] &&
      box[2] - box[0] <= COLUMN * height &&
      Math.abs(middleY(box) - middleY(mark)) <= COLUMN * height,
  );

function standsAmongNumbers(mark: Box, words: readonly PlacedWord[], height: number): boolean {
  const column = columnOf(mark, words, height);
  const numbers = column.filter(({ text }) => /\p{Nd}/u.test(text) && !/\p{L}/u.test(text));
  return column.length > 0 && numbers.length >= NUMBERS * column.length;
}
