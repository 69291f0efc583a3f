import { type PlacedWord, recognisedWord } from '../layout/content.ts';
import { alignedLetters, likeness, lettersIn, type Letter, type Pair } from './letters.ts';
import type { ReadLine } from './ppocr/readLines.ts';

/** Below this a line was not read. */
const READ = 0.5;
/** What only one of the two engines saw is text from here on. */
export const ALONE = 0.6;
/** Readings that share fewer of their letters are not of the same text, and only one of them can be right. */
const ALIKE = 0.5;

/** Whether PP-OCR can write a letter: it knows hardly any accents. */
export type IsSpelled = (letter: string) => boolean;

/**
 * One reading of a line from Tesseract's and PP-OCR's. Where they agree but for accents and spaces Tesseract's
 * stands, for it knows both better; of single letters in which they differ PP-OCR's does.
 */
export function bestReading(
  first: readonly PlacedWord[],
  { words: second, confidence }: ReadLine,
  isSpelled: IsSpelled,
): readonly PlacedWord[] {
  if (first.length === 0) return confidence >= ALONE ? second : [];
  if (second.length === 0 || confidence < READ) return first;
  const pairs = alignedLetters(lettersIn(first), lettersIn(second));
  if (pairs === undefined || likeness(pairs) < ALIKE)
    return confidence >= meanConfidence(first) ? second : first;
  const letters = pairs.flatMap((pair, i) =>
    chosen({ before: pairs[i - 1], pair, after: pairs[i + 1] }, isSpelled),
  );
  return wordsOf(letters);
}

/** Tesseract's reading of small print with the decimal points that it left out; nothing else of it is in doubt. */
export function withPoints(first: readonly PlacedWord[], { words: second }: ReadLine): readonly PlacedWord[] {
  const pairs = alignedLetters(lettersIn(first), lettersIn(second));
  if (pairs === undefined || likeness(pairs) < ALIKE) return first;
  const letters = pairs.flatMap((pair, i): readonly Chosen[] => {
    const { one } = pair;
    if (one !== undefined) return [{ letter: one, confidence: one.confidence, starts: one.starts }];
    return pointBetween({ before: pairs[i - 1], pair, after: pairs[i + 1] });
  });
  return letters.length === lettersIn(first).length ? first : wordsOf(letters);
}

/** A point or comma that only the second reading has, between two digits of one word. */
function pointBetween({ before, pair: { other }, after }: AlignedPair): readonly Chosen[] {
  const [left, right] = [sameDigit(before), sameDigit(after)];
  if (other === undefined || !isMark(other)) return [];
  if (left === undefined || right?.word !== left.word) return [];
  return [{ letter: { ...other, word: left.word }, confidence: other.confidence, starts: false }];
}

const isMark = ({ text }: Letter): boolean => text === '.' || text === ',';

const sameDigit = (pair: Pair | undefined): Letter | undefined =>
  pair?.agrees === true && pair.one !== undefined && isDigit(pair.one) ? pair.one : undefined;

/** A letter of the one reading, and whether a word begins with it. */
interface Chosen {
  readonly letter: Letter;
  readonly confidence: number;
  readonly starts: boolean;
}

/** A place of both readings, between its neighbours. */
interface AlignedPair {
  readonly before: Pair | undefined;
  readonly pair: Pair;
  readonly after: Pair | undefined;
}

function chosen({ before, pair, after }: AlignedPair, isSpelled: IsSpelled): readonly Chosen[] {
  const { one, other, agrees } = pair;
  if (other === undefined) return [];
  if (one === undefined) return [{ letter: other, confidence: other.confidence, starts: other.starts }];
  const starts = isGap(before) ? other.starts : one.starts;
  if (agrees) return [{ letter: one, confidence: Math.max(one.confidence, other.confidence), starts }];
  if (isForeign(one, isSpelled) || fitsBetter(one, other, [before, after]))
    return [{ letter: one, confidence: one.confidence, starts }];
  return [{ letter: { ...other, word: one.word }, confidence: other.confidence, starts }];
}

/** Where one reading has nothing, the spaces of the other say nothing of what follows. */
const isGap = (pair: Pair | undefined): boolean =>
  pair !== undefined && (pair.one === undefined || pair.other === undefined);

const isForeign = (letter: Letter, isSpelled: IsSpelled): boolean =>
  isLetter(letter) && !isSpelled(letter.text) && letter.confidence >= ALONE;

const isLetter = ({ text }: Letter): boolean => /\p{L}/u.test(text);
const isDigit = ({ text }: Letter): boolean => /\p{Nd}/u.test(text);

/** A digit amid letters and a letter amid digits are misread more often than meant. */
function fitsBetter(one: Letter, other: Letter, neighbours: readonly (Pair | undefined)[]): boolean {
  const beside = neighbours.flatMap((pair) =>
    pair?.agrees === true && pair.one?.word === one.word ? [pair.one] : [],
  );
  const known = beside.filter((letter) => isLetter(letter) || isDigit(letter));
  const fits = (kind: (letter: Letter) => boolean): boolean =>
    kind(one) && known.length > 0 && known.every(kind);
  if (isDigit(other)) return fits(isLetter);
  const isStrayLetter = isLetter(other) && known.length > 0 && known.every(isDigit);
  return isStrayLetter && !isLetter(one);
}

function wordsOf(letters: readonly Chosen[]): readonly PlacedWord[] {
  const words: Chosen[][] = [];
  for (const letter of letters) {
    const last = words.at(-1);
    if (last === undefined || letter.starts) words.push([letter]);
    else last.push(letter);
  }
  return words.map(wordOf);
}

function wordOf(letters: readonly Chosen[]): PlacedWord {
  const own = letters.map(({ letter }) => letter);
  const [first] = own;
  const [, top = 0, , bottom = 0] = first?.word.box ?? [];
  return recognisedWord({
    text: own.map(({ text }) => text).join(''),
    box: [Math.min(...own.map(({ from }) => from)), top, Math.max(...own.map(({ to }) => to)), bottom],
    size: first?.word.size ?? 0,
    confidence: letters.reduce((sum, { confidence }) => sum + confidence, 0) / letters.length,
    readBy: own.every(({ readBy }) => readBy === 'tesseract') ? 'tesseract' : 'ppocr',
  });
}

/** Mean by characters; 0 without any. */
export function meanConfidence(words: readonly PlacedWord[]): number {
  let [characters, sum] = [0, 0];
  for (const { text, confidence } of words) {
    characters += text.length;
    sum += text.length * confidence;
  }
  return characters === 0 ? 0 : sum / characters;
}
