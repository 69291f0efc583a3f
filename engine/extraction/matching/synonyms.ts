import { memoryOf, remembered } from '../../kernel/once.ts';
import rings from './synonyms.json' with { type: 'json' };

/** The rings of words that may stand for each other in forms and registers, by each of their words. */
const RINGS = new Map<string, Set<number>>();
for (const [ring, words] of rings.entries())
  for (const word of words.split(' ')) RINGS.set(word, (RINGS.get(word) ?? new Set()).add(ring));

/** Endings of plurals and cases that a ring's words may have. */
const ENDINGS = ['', 's', 'n', 'e', 'es', 'en', 'er'];
/** Those of Slavic cases, after a stem of which enough is left to be sure. */
const CASES = ['u', 'a', 'y', 'i', 'em', 'ow', 'ie', 'ho', 'ego'];
const STEM_MIN = 5;

/** The rings of the words that were asked for last: every field asks for the words of the same labels. */
const known = memoryOf<ReadonlySet<number>>(50_000);
const NONE: ReadonlySet<number> = new Set();

const ringsOf = (word: string): ReadonlySet<number> => known(word, ringsFor);

const ringsFor = (word: string): ReadonlySet<number> =>
  ringsWithout(word, ENDINGS, 0) ?? ringsWithout(word, CASES, STEM_MIN) ?? NONE;

function ringsWithout(
  word: string,
  endings: readonly string[],
  least: number,
): ReadonlySet<number> | undefined {
  for (const ending of endings) {
    const stem = word.slice(0, word.length - ending.length);
    const known = word.endsWith(ending) && stem.length >= least ? RINGS.get(stem) : undefined;
    if (known !== undefined) return known;
  }
  return undefined;
}

/** Words that name the same thing in forms, in one language or in two: "tenant", "occupant", "Mieter". */
export function areSynonyms(one: string, other: string): boolean {
  const own = ringsOf(one);
  if (own.size === 0) return false;
  const theirs = ringsOf(other);
  for (const ring of own) if (theirs.has(ring)) return true;
  return false;
}

/** Which words tell anything, asked of many words by many: each pair of words is judged once. */
export interface TellingWords {
  readonly numberOf: (word: string) => number;
  /** Whether the word of a number tells anything to who has these words of his own. */
  readonly tellingTo: (own: readonly string[]) => (number: number) => boolean;
}

const [UNKNOWN, NO, YES] = [0, 1, 2];
const FIRST_SIZE = 1024;

/** Remembers in a byte each what `judge` says of the word of a number; what it says must not change. */
function bytesOf(judge: (number: number) => boolean): (number: number) => boolean {
  let said = new Uint8Array(FIRST_SIZE);
  return (number) => {
    if (number >= said.length) {
      const grown = new Uint8Array(2 * number);
      grown.set(said);
      said = grown;
    }
    if (said[number] === UNKNOWN) said[number] = judge(number) ? YES : NO;
    return said[number] === YES;
  };
}

/** `judge` holds a word of one's own against another. Make one for each document, for it keeps its words. */
export function tellingWords(judge: (own: string, word: string) => boolean): TellingWords {
  const [numbers, words] = [new Map<string, number>(), [] as string[]];
  const byOwn = new Map<string, (number: number) => boolean>();
  const told = (own: string): ((number: number) => boolean) =>
    remembered(byOwn, own, () => bytesOf((number) => judge(own, words[number] ?? '')));
  return {
    numberOf: (word) => remembered(numbers, word, () => words.push(word) - 1),
    tellingTo: (own) => {
      const each = own.map(told);
      return bytesOf((number) => each.some((tells) => tells(number)));
    },
  };
}
