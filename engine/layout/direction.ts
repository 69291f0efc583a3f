import type { PlacedWord } from './content.ts';

const RIGHT_TO_LEFT = /[\p{sc=Arabic}\p{sc=Hebrew}\p{sc=Syriac}\p{sc=Thaana}\p{sc=Nko}]/u;
const LEFT_TO_RIGHT = /[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Han}]/u;
const MIRRORED: Readonly<Record<string, string>> = {
  '(': ')', ')': '(', '[': ']', ']': '[', '{': '}', '}': '{', '<': '>', '>': '<', '«': '»', '»': '«',
}; // prettier-ignore

/** Whether most of the letters read from right to left. */
export function readsRightToLeft(text: string): boolean {
  if (!RIGHT_TO_LEFT.test(text)) return false;
  let right = 0;
  let left = 0;
  for (const character of text) {
    if (RIGHT_TO_LEFT.test(character)) right += 1;
    else if (LEFT_TO_RIGHT.test(character)) left += 1;
  }
  return right > left;
}

/**
 * What no Arabic word has: alef before another that carries a hamza, two alefs where a word begins (after `and`, `so`,
 * `in` or `as`), and the word `except` the other way round. With what each is.
 */
const SWAPPED: readonly (readonly [pattern: RegExp, mended: string])[] = [
  [/\u0627([\u0622\u0623\u0625])\u0644/g, '\u0627\u0644$1'],
  [/(?<![\p{L}\p{M}])([\u0648\u0641\u0628\u0643]?\u0627)\u0627\u0644(?=\p{L})/gu, '$1\u0644\u0627'],
  [/(?<![\p{L}\p{M}])([\u0648\u0641]?\u0625)\u0627\u0644(?![\p{L}\p{M}])/gu, '$1\u0644\u0627'],
];

/**
 * Text layers give the ligature of lam and alef the wrong way round. Where no Arabic word is written so, it cannot be
 * read otherwise; elsewhere it is left as it is.
 */
export const mendedLigatures = (text: string): string =>
  SWAPPED.reduce((mended, [pattern, right]) => mended.replace(pattern, right), text);

/** Whether a text has a ligature the wrong way round for sure. */
export const hasSwappedLigature = (text: string): boolean =>
  SWAPPED.some(([pattern]) => text.search(pattern) >= 0);

/** The article by itself, or with `and` or `so`: it is written as one with its word. */
const LONE = /^(\P{L}{0,3}[\u0648\u0641]?)\u0627\u0644(\P{L}{0,3})$/u;

/** Of a page that has some the wrong way round: a lone article is the word `no`. */
export const mendedLone = (word: string): string => word.replace(LONE, '$1\u0644\u0627$2');

/**
 * Words as they are read. Those of a line from right to left are turned around, but for runs of Latin
 * words and numbers, which keep their own direction; marks that stand on a word's left end it.
 */
export function inLogicalOrder(words: readonly PlacedWord[]): readonly PlacedWord[] {
  if (!words.some(({ text }) => RIGHT_TO_LEFT.test(text))) return words;
  if (!readsRightToLeft(words.map(({ text }) => text).join(''))) return words;
  const parts = words.flatMap(byScript).reverse();
  const ordered: PlacedWord[] = [];
  let run: PlacedWord[] = [];
  for (const part of parts) {
    if (isLeftToRight(part.text)) run.unshift(part);
    else {
      ordered.push(...run, turned(part));
      run = [];
    }
  }
  return [...ordered, ...run];
}

const isLeftToRight = (text: string): boolean => !RIGHT_TO_LEFT.test(text) && /[\p{L}\p{N}]/u.test(text);

/** Characters of one direction; what stands between numbers and letters goes with them. */
const RUN = new RegExp(
  String.raw`[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{N}]` +
    String.raw`[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{N}.,:/%_+-]{0,400}(?<=[\p{L}\p{N}%])|` +
    String.raw`[^\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{N}]+`,
  'gu',
);

/** A word of two directions as words of one, each with its share of the box. */
function byScript(word: PlacedWord): readonly PlacedWord[] {
  const parts = word.text.match(RUN) ?? [];
  if (parts.length < 2) return [word];
  const [x0, y0, x1, y1] = word.box;
  const step = (x1 - x0) / word.text.length;
  let at = x0;
  return parts.map((text) => {
    const from = at;
    at += step * text.length;
    return { ...word, text, box: [from, y0, at, y1] as const };
  });
}

/** Marks before the letters stand on their left, so they come after them. */
function turned(word: PlacedWord): PlacedWord {
  const { text } = word;
  const letters = [...text.matchAll(/[\p{L}\p{N}\p{M}]/gu)];
  const [first, last] = [letters[0], letters.at(-1)];
  if (first === undefined || last === undefined) return word;
  const end = last.index + last[0].length;
  const [before, core, after] = [text.slice(0, first.index), text.slice(first.index, end), text.slice(end)];
  return { ...word, text: mirrored(after) + core + mirrored(before) };
}

const mirrored = (marks: string): string =>
  Array.from(marks)
    .reverse()
    .map((mark) => MIRRORED[mark] ?? mark)
    .join('');
