import { weightOf, type Terms } from './terms.ts';
import { stemOf } from '../words/labelWords.ts';
import { lexicon } from '../words/lexicon.ts';
import { addTo } from '../../kernel/lists.ts';

/** Something that the words of a field can ask for. */
export type Want = keyof typeof lexicon.asks;

/** Things that the words of a field ask for. */
export interface Wants {
  /** By the field's own name. */
  readonly name: ReadonlySet<Want>;
  /** By all words that the schema says of it. */
  readonly all: ReadonlySet<Want>;
}

/** A field, by its own words. */
interface Named {
  readonly terms: Terms;
  readonly wants: Wants;
}

/** The wants of a field that only a concept names. */
export const NO_WANTS: Wants = { name: new Set(), all: new Set() };

let indexed: ReadonlyMap<string, readonly Want[]> | undefined;

/** The wants of each word, made once, at first use. */
function index(): ReadonlyMap<string, readonly Want[]> {
  if (indexed !== undefined) return indexed;
  const wants = new Map<string, Want[]>();
  for (const want of Object.keys(lexicon.asks) as Want[])
    for (const word of lexicon.asks[want].words) addTo(wants, word, want);
  return (indexed = wants);
}

/** A word asks for the same in the singular and the plural, unless the lexicon knows the plural. */
const wantsOfWord = (word: string): readonly Want[] => index().get(word) ?? index().get(stemOf(word)) ?? [];

/** The wants of some words. */
export const wantsOf = (words: Iterable<string>): ReadonlySet<Want> =>
  new Set([...words].flatMap(wantsOfWord));

/** The field's own name asks for something. */
export const asks = ({ wants }: Pick<Named, 'wants'>, want: Want): boolean => wants.name.has(want);

/** The name asks for something and, but for words that any name has, for nothing else. */
export const asksOnly = (field: Named, want: Want): boolean =>
  asks(field, want) && field.terms.name.every((word) => isWordOf(want, word) || weightOf(word) < 1);

const isWordOf = (want: Want, word: string): boolean => wantsOfWord(word).includes(want);

/** The words of the name that ask for something else. */
export const otherWords = ({ terms: { name } }: Pick<Named, 'terms'>, want: Want): readonly string[] =>
  name.filter((word) => !isWordOf(want, word) && weightOf(word) === 1);
