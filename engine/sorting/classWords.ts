import { lexicon } from '../extraction/words/lexicon.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import type { DocumentClass } from '../ports/sorting.ts';
import kinds from './kinds.json' with { type: 'json' };
import { wordsIn } from './pageFacts.ts';

/** Words one after the other. */
type Phrase = readonly string[];

/** A class as it is looked for in documents. */
export interface SoughtClass {
  readonly name: string;
  /** What such a document may call itself: the name of the class, and other words for the kind that it names. */
  readonly phrases: readonly Phrase[];
  /** Of the name alone. */
  readonly nameWords: ReadonlySet<string>;
  readonly said: ReadonlySet<string>;
  readonly fields: ReadonlySet<string>;
  readonly examples: readonly ReadonlyMap<string, number>[];
}

const DEPTH_MAX = 8;
const WORDS_MAX = 400;
/** Characters of a text that are looked at. */
const TEXT_MAX = 20_000;

const STOPWORDS = new Set(
  [...lexicon.labels.stopwords.words, ...lexicon.labels.articles.words].flatMap(wordsIn),
);
/** Short words mostly join others; those in capitals are names. */
const SHORT_MAX = 3;
const isTelling = (word: string): boolean =>
  !STOPWORDS.has(word) && (word.length > SHORT_MAX || /\p{Script=Han}/u.test(word));

const capitalsIn = (text: string): readonly string[] =>
  (text.match(/(?<!\p{L})\p{Lu}{2,3}(?!\p{L})/gu) ?? []).flatMap(wordsIn);

function tellingIn(text: string): readonly string[] {
  const own = text.slice(0, TEXT_MAX);
  const words = wordsIn(own).filter(isTelling);
  return [...words, ...capitalsIn(own)];
}

const spaced = (name: string): string =>
  name.replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2').replace(/[_-]+/g, ' ');

/** The kinds of documents that there are words for, each with what it is called in all languages. */
const KINDS: readonly (readonly Phrase[])[] = Object.values<Readonly<Record<string, readonly string[]>>>(
  kinds,
).map((languages) => Object.values(languages).flatMap((names) => names.map(wordsIn)));

export const contains = (words: Phrase, phrase: Phrase): boolean =>
  phrase.length > 0 && words.some((_, at) => phrase.every((word, i) => words[at + i] === word));

/** Other words for the kind that a name names: the kind with the longest name in it. */
function calledLike(name: Phrase): readonly Phrase[] {
  let [longest, called]: [number, readonly Phrase[]] = [0, []];
  for (const kind of KINDS)
    for (const phrase of kind)
      if (phrase.length > longest && contains(name, phrase)) [longest, called] = [phrase.length, kind];
  return called;
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** All names and descriptions in a schema. */
function addFields(words: Set<string>, schema: Json | undefined, depth = 0): void {
  if (!isObject(schema) || depth > DEPTH_MAX || words.size > WORDS_MAX) return;
  const { description, title, properties, items } = schema;
  const members = isObject(properties) ? Object.entries(properties) : [];
  const texts = [description, title].filter((text) => typeof text === 'string');
  for (const text of [...texts, ...members.map(([name]) => spaced(name))])
    for (const word of tellingIn(text)) words.add(word);
  for (const [, member] of members) addFields(words, member, depth + 1);
  addFields(words, items, depth + 1);
}

export function countedWords(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

export function soughtClass({ name, description = '', schema, examples = [] }: DocumentClass): SoughtClass {
  const own = wordsIn(spaced(name));
  const fields = new Set<string>();
  addFields(fields, schema);
  return {
    name,
    phrases: [own, ...calledLike(own)].filter(({ length }) => length > 0),
    nameWords: new Set(tellingIn(spaced(name))),
    said: new Set(tellingIn(description).slice(0, WORDS_MAX)),
    fields,
    examples: examples.map((text) => countedWords(tellingIn(text))),
  };
}
