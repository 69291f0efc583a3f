import type { JsonObject } from '../../kernel/json.ts';
import { labelWords, nameWords } from '../words/labelWords.ts';
import { lexicon, type WordList } from '../words/lexicon.ts';

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
  /** The number or letter of its place on a form: `12a` of "box 12a". */
  readonly item?: string | undefined;
  /** The words of the object that it is a member of. */
  readonly around?: readonly string[];
  /** The words of each object that stands beside that one in the schema. */
  readonly others?: readonly (readonly string[])[];
}

/** The terms of a field that only a concept names. */
export const NO_TERMS: Terms = { name: [], calls: [], all: new Set(), unit: undefined };

const STOPWORDS = lexicon.labels.stopwords;
const UNITS = lexicon.labels.units;
const GENERIC = lexicon.labels.generic;
/** Words that any field may have say little: `number`, `name`, `date`. */
const GENERIC_WEIGHT = 0.4;
const BY_DESCRIPTION = 0.95;
const BY_CLAUSE = 0.88;
const CALL_WORDS_MAX = 8;

/** The weight of a word: generic ones say little. */
export const weightOf = (word: string): number =>
  GENERIC.has(word) || word === 'ours' || word === 'yours' ? GENERIC_WEIGHT : 1;

/** The words of a label or name that say something. */
export const termsIn = (text: string): readonly string[] => {
  const owner = OWNERS.find(([shape]) => shape.test(text))?.[1];
  const words = said(labelWords(apart(text)));
  return owner === undefined || words.length > OWNED_WORDS_MAX ? words : [owner, ...words];
};

/** Letters part their writer's references from the reader's: "Our ref.", "Ihr Zeichen". */
const OWNERS: readonly (readonly [RegExp, string])[] = [
  [new RegExp(`^${lexicon.labels.owner_ours.pattern}[\\s_]`, 'iu'), 'ours'],
  [new RegExp(`^${lexicon.labels.owner_yours.pattern}[\\s_]`, 'iu'), 'yours'],
];
const OWNED_WORDS_MAX = 3;

/** A small word that recognition joined to the next: "ofRegistrant", "ofthe". */
const JOINED = new RegExp(
  `(?<!\\p{L})(${lexicon.labels.joined_to_next.pattern})(?=\\p{Lu}\\p{Ll}|(?:the|this|your)(?!\\p{L}))`,
  'gu',
);

/** "N a m e": letters that are set, or recognised, apart. */
const SPACED = /(?<!\S)(?:\p{L} ){3,}\p{L}(?!\S)/gu;

/**
 * Numbers apart from the units that they are written together with, small words from what they are joined to, and
 * letters of one word together.
 */
const apart = (text: string): string =>
  text
    .replace(/(\d)(?=\p{L})/gu, '$1 ')
    .replace(JOINED, '$1 ')
    .replace(SPACED, (letters) => letters.replaceAll(' ', ''));

/** The first letters of a text's words, where they may be an acronym: "year to date" is "ytd". */
export function initialsOf(text: string): readonly string[] {
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  return words.length >= 3 && words.length <= 5 ? [words.map((word) => word.charAt(0)).join('')] : [];
}

function said(words: readonly string[]): readonly string[] {
  const kept = words.filter((word) => !STOPWORDS.has(word) && (word.length > 1 || /\d/.test(word)));
  return kept.length === 0 ? words : kept;
}

/** A name that ends so asks who did it: `signed_by`. */
const BY = lexicon.labels.ends_by;
const DOER = 'by';

/** A name that ends so asks for one end of a range, though such words say nothing in labels. */
const SIDES: readonly (readonly [string, WordList])[] = [
  ['from', lexicon.labels.ends_from],
  ['to', lexicon.labels.ends_to],
];

/** A name's small words at its ends: `signed_by` asks who, `valid_from` and `from_date` ask for a start. */
function askedBy(raw: readonly string[]): readonly string[] {
  const ends = raw.length < 2 ? [] : [raw[0] ?? '', raw.at(-1) ?? ''];
  const sides = SIDES.flatMap(([side, words]) => (ends.some((word) => words.has(word)) ? [side] : []));
  return BY.has(raw.at(-1) ?? '') ? [DOER, ...sides] : sides;
}

interface Named {
  readonly name: string;
  readonly parents: readonly string[];
  /** The names of the objects beside the one that it is a member of. */
  readonly others: readonly string[];
  readonly schema: JsonObject;
}

/** A schema may say where on a form a value stands: "box 12a", "Line 7", `box18LocalWages`. */
const ITEM = new RegExp(
  `(?<!\\p{L})${lexicon.forms.numbered.pattern}[\\s_]?(\\d{1,3}[a-z]?|(?<=box )[a-z])` +
    `(?![\\p{L}\\p{N}]|[-/.]\\d)[\\s_]?`,
  'iu',
);
/** Further on in a description a place is that of something else. */
const ITEM_WITHIN = 40;

/** A text without the number of the form's place that it names first, and that number; a text of that alone stays. */
function unplaced(text: string): { readonly rest: string; readonly item: string | undefined } {
  const match = ITEM.exec(text.slice(0, ITEM_WITHIN));
  const rest = match === null ? text : text.slice(0, match.index) + text.slice(match.index + match[0].length);
  return /\p{L}{2}/u.test(rest) ? { rest, item: match?.[1]?.toLowerCase() } : { rest: text, item: undefined };
}

const inWords = (name: string): string => name.replace(/([\p{Ll}\p{N}])(?=\p{Lu})/gu, '$1 ');

/** The terms of a property: its name, alone and under its parents, its title, and what its description says. */
export function termsOf({ name, parents, others, schema }: Named): Terms {
  const { title, description } = schema;
  const placed = unplaced(inWords(name));
  const about = typeof description === 'string' ? unplaced(description) : undefined;
  const raw = nameWords(apart(placed.rest));
  const bare = ownedBy(name, said(raw));
  const unit = UNITS.has(bare.at(-1) ?? '') && bare.length > 1 ? bare.at(-1) : undefined;
  const own = unit === undefined ? bare : bare.slice(0, -1);
  const around = said(nameWords(parents.at(-1) ?? ''));
  const calls = [...named(own, around), ...toldBy({ title, description: about?.rest })];
  return {
    name: [...bare, ...askedBy(raw)],
    calls: calls.filter(({ words }) => words.length > 0 && words.length <= CALL_WORDS_MAX),
    all: new Set([...calls.flatMap(({ words }) => words), ...bare]),
    unit,
    item: placed.item ?? about?.item,
    around,
    others: others.map((other) => said(nameWords(other))),
  };
}

const ownedBy = (name: string, words: readonly string[]): readonly string[] => {
  const owner = OWNERS.find(([shape]) => shape.test(name))?.[1];
  return owner === undefined ? words : [owner, ...words];
};

const UNDER_PARENT = 0.9;

/** A name under a parent says less alone: `name` of `customer`. */
const named = (own: readonly string[], around: readonly string[]): readonly Call[] =>
  around.length === 0 ? [call(own, 1)] : [call(own, UNDER_PARENT), call([...around, ...own], 1)];

const toldBy = ({
  title,
  description,
}: {
  readonly title: unknown;
  readonly description: unknown;
}): readonly Call[] => [
  ...(typeof title === 'string' ? [call(termsIn(title), 1)] : []),
  ...(typeof description === 'string' ? described(description) : []),
];

const call = (words: readonly string[], weight: number): Call => ({ words, weight });

const QUOTED = /["“„«‘']([^"”“»’']{2,60})["”»’']/gu;

/** "(部署)" behind words in another script. */
const IN_OTHER_SCRIPT = /[(（]([^\p{Script=Latin}\p{N}()（）]{2,40})[)）]/gu;

/** The labels that a description gives in the document's own script. */
export const printedLabels = (description: string): readonly string[] =>
  /\p{Script=Latin}{3}/u.test(description)
    ? [...description.matchAll(IN_OTHER_SCRIPT)]
        .map(([, label = '']) => label.trim())
        .filter((label) => /\p{L}/u.test(label))
    : [];

/** A description that quotes a label says it best; else all of it, or a clause of it, may be the label. */
function described(description: string): readonly Call[] {
  const quoted = [...description.matchAll(QUOTED)].map(([, label = '']) => call(termsIn(label), 1));
  const clauses = description.split(/[:;.,()–—]|\s-\s/).filter((clause) => clause.trim().length > 2);
  const printed = printedLabels(description).map((label) => call(termsIn(label), 1));
  const all = call(termsIn(description), BY_DESCRIPTION);
  const parts = clauses.length < 2 ? [] : clauses.map((one) => call(termsIn(one), BY_CLAUSE));
  const either = clauses.flatMap(alternatives).map((one) => call(termsIn(one), BY_CLAUSE));
  return [...quoted, ...printed, all, ...parts, ...either];
}

/** A text with one of the words on either side of its only joint, once with each. */
function withEach(text: string, joint: RegExp): readonly string[] {
  const [before = '', after = '', ...more] = text.trim().split(joint);
  if (after === '' || more.length > 0) return [];
  const [start, end] = [before.lastIndexOf(' ') + 1, `${after} `.indexOf(' ')];
  return [before + after.slice(end), before.slice(0, start) + after];
}

/** "number of the contract or order" without the one and without the other: a label says either. */
const alternatives = (clause: string): readonly string[] => withEach(clause, /\sor\s/);

const OF_WHOM = new RegExp(`\\s${lexicon.forms.of_whom.pattern}\\s`);

/** "Name and address of the owner" is the label of two values. */
export const bothOf = (label: string): readonly string[] =>
  OF_WHOM.test(label) ? withEach(label, /\s(?:and|und|et|y|e|en)\s/) : [];
