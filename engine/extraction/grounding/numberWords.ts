import { folded } from '../../kernel/text.ts';
import { groupedBy } from '../../kernel/lists.ts';
import { values } from '../words/lexicon.ts';

/** A number that is written out. */
export interface SpelledNumber {
  readonly value: number;
  readonly from: number;
  readonly to: number;
}

interface Language {
  /** Words that add, and words that multiply what stands before them. */
  readonly adds: Readonly<Record<string, number>>;
  readonly times: Readonly<Record<string, number>>;
  /** Words between others that say nothing: `and`. */
  readonly joins: readonly string[];
  /** Words that mean something else as well, where they stand alone. */
  readonly notAlone: readonly string[];
  /** Ones stand before tens: `fünfundvierzig`. */
  readonly onesFirst: boolean;
  /** Twenties that four stands before: `quatre-vingts`. */
  readonly scores: readonly string[];
  /** All of them by their first letters. */
  readonly byLetter: ReadonlyMap<string, readonly string[]>;
}

const LANGUAGES: readonly Language[] = Object.values(values.number_words).map((language) => ({
  ...language,
  byLetter: groupedBy(
    [...Object.keys(language.adds), ...Object.keys(language.times), ...language.joins],
    (word) => word.charAt(0),
  ),
}));
/** Of words written together; longer ones are no numbers. */
const WORD_MAX = 80;
const HUNDRED = 100;

interface Word {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  /** Only spaces or hyphens stand between it and the word before. */
  readonly follows: boolean;
}

/** The numbers that a text spells, in the languages that are shipped. Linear in the text. */
export function spelledNumbersIn(text: string): readonly SpelledNumber[] {
  const words: Word[] = [];
  let end = 0;
  for (const { 0: word, index } of text.matchAll(/\p{L}+/gu)) {
    const follows = words.length > 0 && /^[\s\-\u2010\u2011]{1,3}$/.test(text.slice(end, index));
    end = index + word.length;
    words.push({ text: folded(word), from: index, to: end, follows });
  }
  return LANGUAGES.flatMap((language) => spelledIn(words, language));
}

function spelledIn(words: readonly Word[], language: Language): readonly SpelledNumber[] {
  const found: SpelledNumber[] = [];
  for (let at = 0; at < words.length;) {
    const { value, last } = runFrom(words, at, language);
    const [first, end] = [words[at], words[last]];
    const isAlone = last === at && language.notAlone.includes(first?.text ?? '');
    if (first !== undefined && end !== undefined && value > 0 && !isAlone)
      found.push({ value, from: first.from, to: end.to });
    at = Math.max(at, last) + 1;
  }
  return found;
}

/** The longest number that begins with a word, and its last word. A word that cannot go on with it ends it. */
function runFrom(words: readonly Word[], at: number, language: Language) {
  let sum = NOTHING;
  let last = at - 1;
  for (let next = at; next < Math.min(words.length, at + RUN_MAX); next += 1) {
    const word = words[next];
    if (word === undefined || (next > at && !word.follows)) break;
    if (next > at && language.joins.includes(word.text)) continue;
    const after = addedWord(sum, word.text, language);
    if (after === undefined) break;
    sum = after;
    last = next;
  }
  return { value: sum.done + sum.current, last };
}

/** Words of a number, joining ones included. */
const RUN_MAX = 24;

const addedWord = (sum: Sum, text: string, language: Language): Sum | undefined =>
  partsOf(text, language)?.reduce<Sum | undefined>(
    (before, part) => before && added(before, part, language),
    sum,
  );

/** A word as the words of numbers that it is written of, the fewest; undefined where it is not one. */
function partsOf(text: string, { byLetter, joins }: Language): readonly string[] | undefined {
  if (text.length > WORD_MAX) return undefined;
  const until: (readonly string[] | undefined)[] = [[]];
  for (let from = 0; from < text.length; from += 1) {
    const before = until[from];
    if (before !== undefined)
      goOn(until, before, { text, from, known: byLetter.get(text.charAt(from)) ?? [] });
  }
  return until[text.length]?.filter((word) => !joins.includes(word));
}

/** Each known word that stands at `from`, after those before it. */
function goOn(
  until: (readonly string[] | undefined)[],
  before: readonly string[],
  { text, from, known }: { readonly text: string; readonly from: number; readonly known: readonly string[] },
): void {
  for (const word of known) {
    const to = from + word.length;
    const isFewest = before.length + 1 < (until[to]?.length ?? Infinity);
    if (isFewest && text.startsWith(word, from)) until[to] = [...before, word];
  }
}

interface Sum {
  /** What a thousand, a million closed. */
  readonly done: number;
  readonly current: number;
  /** The last of these; each next one is smaller. */
  readonly scale: number;
}

const NOTHING: Sum = { done: 0, current: 0, scale: Infinity };

/** With one more word; undefined where the word cannot stand there in a number. */
function added(sum: Sum, word: string, language: Language): Sum | undefined {
  const add = language.adds[word];
  if (add !== undefined) {
    const current = withAdded(sum.current, add, { word, language });
    return current === undefined ? undefined : { ...sum, current };
  }
  const factor = language.times[word] ?? 1;
  if (factor === HUNDRED)
    return sum.current < 10 ? { ...sum, current: Math.max(1, sum.current) * HUNDRED } : undefined;
  if (factor >= sum.scale || sum.current >= 1000) return undefined;
  return { done: sum.done + Math.max(1, sum.current) * factor, current: 0, scale: factor };
}

type Spoken = { readonly word: string; readonly language: Language };

function withAdded(current: number, add: number, { word, language }: Spoken): number | undefined {
  const tens = current % HUNDRED;
  if (tens === 4 && language.scores.includes(word)) return current + 3 * add + 16;
  if (add >= HUNDRED) return current === 0 ? add : undefined;
  const fits = add < 10 ? tens !== 10 && current % 10 === 0 : tensFit(tens, add, language);
  return fits ? current + add : undefined;
}

/** Tens follow hundreds; where ones are said first, these; and in French ten to nineteen sixty and eighty. */
function tensFit(tens: number, add: number, { onesFirst, scores }: Language): boolean {
  if (tens === 0) return true;
  if (onesFirst && tens < 10) return add % 10 === 0 && add > 10;
  return scores.length > 0 && add < 20 && (tens === 60 || tens === 80);
}
