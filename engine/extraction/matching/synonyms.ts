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
const KNOWN = new Map<string, ReadonlySet<number> | undefined>();
const KNOWN_MAX = 50_000;

function ringsOf(word: string): ReadonlySet<number> | undefined {
  const known = KNOWN.get(word);
  if (known !== undefined || KNOWN.has(word)) return known;
  if (KNOWN.size >= KNOWN_MAX) KNOWN.clear();
  const rings = ringsWithout(word, ENDINGS, 0) ?? ringsWithout(word, CASES, STEM_MIN);
  KNOWN.set(word, rings);
  return rings;
}

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
  const theirs = own === undefined ? undefined : ringsOf(other);
  if (own === undefined || theirs === undefined) return false;
  for (const ring of own) if (theirs.has(ring)) return true;
  return false;
}

/** Whether a word tells anything, asked of many words by many: each is answered once, and remembered in a byte. */
export interface TellingWords<Asker extends object> {
  readonly tells: (asker: Asker, word: string) => boolean;
}

const [UNKNOWN, NO, YES] = [0, 1, 2];
const FIRST_SIZE = 1024;

/** `judge` says it of a word; what it says must not change. Make one for each document, for it keeps its words. */
export function tellingWords<Asker extends object>(
  judge: (asker: Asker, word: string) => boolean,
): TellingWords<Asker> {
  const numbers = new Map<string, number>();
  const answers = new WeakMap<Asker, Uint8Array>();
  const numberOf = (word: string): number => {
    const known = numbers.get(word) ?? numbers.size;
    numbers.set(word, known);
    return known;
  };
  const roomFor = (asker: Asker, number: number): Uint8Array => {
    const known = answers.get(asker);
    if (known !== undefined && number < known.length) return known;
    const grown = new Uint8Array(Math.max(FIRST_SIZE, 2 * number));
    grown.set(known ?? []);
    answers.set(asker, grown);
    return grown;
  };
  return {
    tells: (asker, word) => {
      const number = numberOf(word);
      const said = roomFor(asker, number);
      if (said[number] === UNKNOWN) said[number] = judge(asker, word) ? YES : NO;
      return said[number] === YES;
    },
  };
}
