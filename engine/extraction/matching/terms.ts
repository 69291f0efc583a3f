import type { JsonObject } from '../../kernel/json.ts';
import { labelWords, nameWords } from '../fields/words.ts';
import forms from '../lexicon/forms.json' with { type: 'json' };
import labels from '../lexicon/labels.json' with { type: 'json' };

/** One way to call a field: its words, and how much a label that says them all is worth. */
export interface Call {
  readonly words: readonly string[];
  readonly weight: number;
}

/** How a schema calls a field, besides the concept that it may mean. */
export interface Terms {
  /** The words of its own name. */
  readonly name: readonly string[];
  readonly calls: readonly Call[];
  /** All words that the schema says of it: a label may have any of them. */
  readonly all: ReadonlySet<string>;
  /** The unit that its name ends in. */
  readonly unit: string | undefined;
}

/** Of a field that only a concept names. */
export const NO_TERMS: Terms = { name: [], calls: [], all: new Set(), unit: undefined };

const STOPWORDS = new Set(forms.stopwords);
const UNITS = new Set(labels.units);
const GENERIC = new Set(forms.generic);
/** Words that any field may have say little: `number`, `name`, `date`. */
const GENERIC_WEIGHT = 0.4;
const BY_DESCRIPTION = 0.95;
const BY_CLAUSE = 0.88;
const CALL_WORDS_MAX = 8;

/** How much a word says. */
export const weightOf = (word: string): number => (GENERIC.has(word) ? GENERIC_WEIGHT : 1);

/** The words of a label or name that say something. */
export const termsIn = (text: string): readonly string[] => said(labelWords(text));

function said(words: readonly string[]): readonly string[] {
  const kept = words.filter((word) => !STOPWORDS.has(word) && (word.length > 1 || /\d/.test(word)));
  return kept.length === 0 ? words : kept;
}

interface Named {
  readonly name: string;
  readonly parents: readonly string[];
  readonly schema: JsonObject;
}

/** The terms of a property: its name, alone and under its parents, its title, and what its description says. */
export function termsOf({ name, parents, schema }: Named): Terms {
  const bare = said(nameWords(name));
  const unit = UNITS.has(bare.at(-1) ?? '') && bare.length > 1 ? bare.at(-1) : undefined;
  const own = unit === undefined ? bare : bare.slice(0, -1);
  const around = said(nameWords(parents.at(-1) ?? ''));
  const { title, description } = schema;
  const titled = typeof title === 'string' ? [call(termsIn(title), 1)] : [];
  const told = typeof description === 'string' ? described(description) : [];
  const withParent = around.length === 0 ? [] : [call([...around, ...own], 1)];
  const calls = [
    ...(around.length === 0 ? [call(own, 1)] : [call(own, 0.9)]),
    ...withParent,
    ...titled,
    ...told,
  ];
  const good = calls.filter(({ words }) => words.length > 0 && words.length <= CALL_WORDS_MAX);
  return { name: bare, calls: good, all: new Set([...calls.flatMap(({ words }) => words), ...bare]), unit };
}

const call = (words: readonly string[], weight: number): Call => ({ words, weight });

const QUOTED = /["“„«‘']([^"”“»’']{2,60})["”»’']/gu;

/** A description that quotes a label says it best; else all of it, or a clause of it, may be the label. */
function described(description: string): readonly Call[] {
  const quoted = [...description.matchAll(QUOTED)].map(([, label = '']) => call(termsIn(label), 1));
  const clauses = description.split(/[:;.,()–—]|\s-\s/).filter((clause) => clause.trim().length > 2);
  const all = call(termsIn(description), BY_DESCRIPTION);
  return [...quoted, all, ...(clauses.length < 2 ? [] : clauses.map((one) => call(termsIn(one), BY_CLAUSE)))];
}
