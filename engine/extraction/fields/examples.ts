import type { Json, JsonObject } from '../../kernel/json.ts';
import { lexicon } from '../words/lexicon.ts';

/** Of a text with letters alone or digits alone nothing but the other is another kind of value. */
export type Script = 'letters' | 'digits' | 'both';

/** The script of a text; undefined: neither a letter nor a digit is in it. */
export function scriptOf(text: string): Script | undefined {
  const [letters, digits] = [/\p{L}/u.test(text), /\p{N}/u.test(text)];
  if (letters) return digits ? 'both' : 'letters';
  return digits ? 'digits' : undefined;
}

/**
 * "(e.g. '1 - 12' or 'Expiration')", ", for example Dubai": from these words to the end of the clause. Few marks before
 * them are looked at, so that a description of blanks takes time by its length.
 */
const GIVEN = new RegExp(
  `[\\s,;:(（\\[]{0,4}(?<!\\p{L})${lexicon.forms.for_example.pattern}[\\s,:：]*([^)）\\];；\\n]+)[)）\\]]?`,
  'giu',
);
const QUOTED = /(?<!\p{L})["“„«‘'`]([^"”“»’'`]{1,60})["”»’'`]/gu;
/** A sentence that goes on says no example any more. */
const SENTENCE_END = /\.\s(?=\p{Lu})/u;
const EXAMPLE_MAX = 60;
/** Between one example and the next. */
const OTHER = new RegExp(`,\\s|\\s/\\s|、|\\s${lexicon.forms.either.pattern}\\s`, 'iu');

interface Told {
  /** The description without its examples. */
  readonly rest: string;
  readonly examples: readonly string[];
}

/** Takes the examples out of a description: they say what a value looks like, and are no labels of it. */
export function examplesApart(description: string): Told {
  const examples: string[] = [];
  const rest = description.replace(GIVEN, (_, clause: string) => {
    const [own = '', ...more] = clause.split(SENTENCE_END);
    const quoted = [...own.matchAll(QUOTED)].map(([, text = '']) => text);
    const all = quoted.length > 0 ? quoted : own.split(OTHER);
    examples.push(
      ...all.map((one) => one.trim()).filter(({ length }) => length > 0 && length <= EXAMPLE_MAX),
    );
    return more.length === 0 ? ' ' : `. ${more.join('. ')}`;
  });
  return { rest: rest.trim(), examples };
}

const textsIn = (value: Json | undefined): readonly string[] =>
  (Array.isArray(value) ? value : [value]).flatMap((one) =>
    typeof one === 'string' || typeof one === 'number' ? [String(one)] : [],
  );

/** The scripts of the examples that a schema gives of a value, in `examples`, `example` or its description. */
export function exampleScripts({ examples, example, description }: JsonObject): ReadonlySet<Script> {
  const told = typeof description === 'string' ? examplesApart(description).examples : [];
  const all = [...textsIn(examples), ...textsIn(example), ...told];
  return new Set(all.flatMap((one) => scriptOf(one) ?? []));
}

/** A schema whose description has no examples. */
export const withoutExamples = (schema: JsonObject): JsonObject =>
  typeof schema['description'] === 'string'
    ? { ...schema, description: examplesApart(schema['description']).rest }
    : schema;

/** A value that can hardly be one beside the examples of the schema: letters alone for digits, or the reverse. */
export function isUnlike(value: unknown, examples: ReadonlySet<Script> | undefined): boolean {
  const own = typeof value === 'string' ? scriptOf(value) : undefined;
  if (own === undefined || own === 'both' || examples?.size !== 1) return false;
  return !examples.has(own) && !examples.has('both');
}
