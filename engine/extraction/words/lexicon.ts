import { folded, oneOf } from '../../kernel/text.ts';
import conceptData from './concepts.json' with { type: 'json' };
import listData from './lists.json' with { type: 'json' };
import ringData from './synonyms.json' with { type: 'json' };
import valueData from './values.json' with { type: 'json' };

/** Languages of phrases and words, by ISO 639-1. */
export const LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'nl', 'pt', 'pl', 'cs'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Beside the languages a list may have words that all share (`any`), and a few of languages without more (`other`). */
const GROUPS: readonly string[] = ['any', ...LANGUAGES, 'other'];

/** Kinds of values that concepts have. */
const KINDS = [
  'date',
  'number',
  'integer',
  'percent',
  'currency',
  'id',
  'iban',
  'bic',
  'vat_id',
  'email',
  'phone',
  'url',
  'party',
  'address',
  'text',
  'boolean',
] as const;
export type ValueKind = (typeof KINDS)[number];

/** Fields that a concept is for: those outside of rows (the default), members of rows, or both. */
const PLACES = ['rows', 'rows and alone'] as const;
export type ConceptPlace = (typeof PLACES)[number];

/** A concept as `concepts.json` has it: the phrases of each language are written as labels print them. */
export interface ConceptEntry extends Readonly<Partial<Record<Language, readonly string[]>>> {
  readonly kind: ValueKind;
  readonly in?: ConceptPlace;
  /** The concept that is meant where a document has nothing under this one: a receipt's number for an invoice's. */
  readonly stand_in?: string;
}

/**
 * How the words of a list are compared: `word` without case and diacritics, `pattern` as pieces of regular
 * expressions, `printed` as they stand.
 */
const FORMS = ['word', 'pattern', 'printed'] as const;

/** Words that can be asked for. */
export interface WordSet {
  has(word: string): boolean;
}

/** Words of one use, in all languages. */
export interface WordList extends WordSet {
  /** The words of all languages, folded if they are compared so. */
  readonly words: readonly string[];
  /** The source of a pattern for any of them. */
  readonly pattern: string;
}

/** A list in `lists.json`: its use, its form, and its words by language. */
type ListEntry = Readonly<Record<string, unknown>>;

/** Says which entry of which file is wrong, and what would be right. */
const wrong = (place: string, message: string): Error =>
  new Error(`engine/extraction/words/${place}: ${message}`);

const quoted = (words: readonly string[]): string => words.map((word) => `"${word}"`).join(', ');

function oneIn<T extends string>(place: string, known: readonly T[], given: unknown): T {
  const found = known.find((one) => one === given);
  if (found === undefined)
    throw wrong(place, `${JSON.stringify(given)} is unknown; known are ${quoted(known)}`);
  return found;
}

/** The texts of one language; each has at least one character and no space at its ends. */
function textsOf(place: string, given: unknown): readonly string[] {
  if (!Array.isArray(given)) throw wrong(place, 'a list of words is wanted');
  return given.map((text: unknown, i) => {
    if (typeof text !== 'string' || text === '' || text.trim() !== text)
      throw wrong(place, `entry ${i} (${JSON.stringify(text)}) is no word`);
    return text;
  });
}

/** Checks a list: known languages and form, words that can be found, none of them twice. */
export function checkedWords(name: string, { about, as, ...groups }: ListEntry): readonly string[] {
  const place = `lists.json, ${name}`;
  if (typeof about !== 'string')
    throw wrong(place, '"about" is missing: a sentence that says what the words are for');
  const form = oneIn(`${place}.as`, FORMS, as);
  const seen = new Map<string, string>();
  for (const [group, given] of Object.entries(groups)) {
    oneIn(place, GROUPS, group);
    for (const text of textsOf(`${place}.${group}`, given)) {
      const word = form === 'word' ? folded(text) : text;
      if (form === 'pattern') patternChecked(`${place}.${group}`, word);
      const before = seen.get(word);
      if (before !== undefined)
        throw wrong(
          `${place}.${group}`,
          `"${text}" is there already (${before}): a word counts in every language`,
        );
      seen.set(word, group);
    }
  }
  return [...seen.keys()];
}

function patternChecked(place: string, pattern: string): void {
  try {
    if (!new RegExp(`^(?:${pattern})$`, 'u').test('')) return;
  } catch {
    throw wrong(place, `"${pattern}" is no pattern`);
  }
  throw wrong(place, `"${pattern}" fits an empty text`);
}

/** A list is checked when it is first used: few processes need all of them. */
function wordListOf(name: string, entry: ListEntry): WordList {
  let known: { readonly words: readonly string[]; readonly set: ReadonlySet<string> } | undefined;
  const read = (): NonNullable<typeof known> => {
    if (known !== undefined) return known;
    const words = checkedWords(name, entry);
    return (known = { words, set: new Set(words) });
  };
  return {
    get words() {
      return read().words;
    },
    get pattern() {
      return oneOf(read().words);
    },
    has: (word) => read().set.has(word),
  };
}

type Lists<Data> = { readonly [Theme in keyof Data]: { readonly [Name in keyof Data[Theme]]: WordList } };

/** The lists of `lists.json` by theme and name. */
export const lexicon = Object.fromEntries(
  Object.entries<Readonly<Record<string, ListEntry>>>(listData).map(([theme, entries]) => [
    theme,
    Object.fromEntries(
      Object.entries(entries).map(([name, entry]) => [name, wordListOf(`${theme}.${name}`, entry)]),
    ),
  ]),
) as unknown as Lists<typeof listData>;

/** Checks a concept: a known kind, known languages, no phrase twice in one of them. */
export function checkedConcept(id: string, entry: ListEntry): ConceptEntry {
  const place = `concepts.json, ${id}`;
  const { kind, in: where, stand_in: standIn, ...phrases } = entry;
  oneIn(`${place}.kind`, KINDS, kind);
  if (where !== undefined) oneIn(`${place}.in`, PLACES, where);
  if (standIn !== undefined) oneIn(`${place}.stand_in`, Object.keys(conceptData), standIn);
  for (const [language, given] of Object.entries(phrases)) {
    oneIn(place, LANGUAGES, language);
    const texts = textsOf(`${place}.${language}`, given);
    const twice = texts.find((text, i) => texts.indexOf(text) !== i);
    if (twice !== undefined) throw wrong(`${place}.${language}`, `"${twice}" is there twice`);
  }
  return entry as unknown as ConceptEntry;
}

/** The concepts of `concepts.json` by their identifiers. */
export const conceptEntries = (): readonly (readonly [id: string, entry: ConceptEntry])[] =>
  Object.entries<ListEntry>(conceptData).map(([id, entry]) => [id, checkedConcept(id, entry)]);

/** Checks a ring of `synonyms.json`: two words at least, folded, each once. */
export function checkedRing(place: number, ring: string): readonly string[] {
  const words = ring.split(' ');
  const bad = words.find((word, i) => word === '' || folded(word) !== word || words.indexOf(word) !== i);
  if (bad !== undefined)
    throw wrong(`synonyms.json, ring ${place}`, `"${bad}" is there twice, or has case or diacritics`);
  if (words.length < 2) throw wrong(`synonyms.json, ring ${place}`, `"${ring}" has no second word`);
  return words;
}

/** Rings of words that may stand for each other in labels. */
export const rings = (): readonly (readonly string[])[] =>
  ringData.map((ring, place) => checkedRing(place, ring));

/** Words that say a value: numbers, months, currencies, lengths of accounts. */
export const values = valueData;
