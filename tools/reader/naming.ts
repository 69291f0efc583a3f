import type { Json, JsonObject } from '../../engine/kernel/json.ts';
import { conceptFor } from './draft.ts';
import type { Random } from './random.ts';
import { labelsOf, type Concept, type Language } from './words.ts';

type Style = 'snake' | 'camel' | 'pascal' | 'kebab' | 'words';

/** How one schema is written: its language, its names, how much it tells. */
export interface Manner {
  readonly random: Random;
  readonly language: Language;
  readonly style: Style;
  readonly shortens: boolean;
  /** Shares of members. */
  readonly describes: number;
  readonly titles: number;
  readonly examples: number;
  readonly nullable: 'no' | 'list' | 'anyOf';
  readonly hasFormat: boolean;
  readonly nests: boolean;
  readonly hasDefs: boolean;
}

/** Of a document in one language; `wanted` is that of the schema, which is drawn where it is left out. */
export function mannerOf(random: Random, page: Language, wanted?: Language): Manner {
  const drawn = random.chance(0.62)
    ? page
    : random.chance(0.8)
      ? 'en'
      : random.pick(['en', 'de', 'fr', 'es'] as const);
  const language = wanted ?? drawn;
  return {
    random,
    language,
    style: random.pick([
      'snake',
      'snake',
      'snake',
      'snake',
      'camel',
      'camel',
      'camel',
      'pascal',
      'kebab',
      'words',
    ]),
    shortens: random.chance(0.12),
    describes: random.pick([0, 0, 0.4, 0.8, 1]),
    titles: random.pick([0, 0, 0, 0.5, 1]),
    examples: random.pick([0, 0, 0, 0.3]),
    nullable: random.pick(['no', 'no', 'list', 'anyOf']),
    hasFormat: random.chance(0.85),
    nests: random.chance(0.4),
    hasDefs: random.chance(0.3),
  };
}

const SHORT: Readonly<Record<string, string>> = {
  number: 'no',
  amount: 'amt',
  quantity: 'qty',
  date: 'dt',
  address: 'addr',
  description: 'desc',
  account: 'acct',
  reference: 'ref',
  customer: 'cust',
  invoice: 'inv',
  department: 'dept',
  telephone: 'tel',
  certificate: 'cert',
  total: 'tot',
};

export const bare = (label: string): string =>
  label
    .replace(/\([^)]*\)/g, ' ')
    .replace(/#/g, ' number ')
    .replace(/\b(?:No|Nr|N)\.(?=\s|$)/g, 'number')
    .replace(/%/g, ' percent ')
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/ß/g, 'ss')
    .replace(/ł/g, 'l')
    .replace(/[^a-zA-Z0-9]+/g, ' ')
    .trim()
    .toLowerCase();

/** A name of several words, as this schema writes names. */
export function written(words: string, { style, shortens }: Manner): string {
  const parts = words.split(/[\s_]+/).map((word) => (shortens ? (SHORT[word] ?? word) : word));
  const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
  if (style === 'camel') return parts.map((word, i) => (i === 0 ? word : capital(word))).join('');
  if (style === 'pascal') return parts.map(capital).join('');
  if (style === 'kebab') return parts.join('-');
  if (style === 'words') return capital(parts.join(' '));
  return parts.join('_');
}

/** What a role is called, alone or before a part of it. */
export function roleWords(role: string, { random, language }: Manner): string {
  const labels = namesIn(role, language).filter((label) => label.split(' ').length < 3);
  const isOwn = labels.length === 0 || (language === 'en' && random.chance(0.6));
  return isOwn ? role : random.pick(labels);
}

const ENDS: Readonly<Record<string, readonly string[]>> = {
  start: ['start', 'from', 'begin', 'start date'],
  end: ['end', 'to', 'until', 'end date'],
};

/** Words for a concept, as a schema of this manner may call it. */
export function wordsFor(id: string, manner: Manner): string {
  const { random, language } = manner;
  const [base = '', end = ''] = id.split(':');
  const [role = '', part] = base.split('.');
  if (part !== undefined) return partOfRole(role, part, manner);
  const tail = ENDS[end];
  const labels = namesIn(base, language);
  const isOwn = labels.length === 0 || (language === 'en' && random.chance(0.45));
  return `${isOwn ? base : random.pick(labels)}${tail === undefined ? '' : ` ${random.pick(tail)}`}`;
}

function partOfRole(role: string, part: string, manner: Manner): string {
  const { random } = manner;
  const who = roleWords(role, manner);
  if (part !== 'name') return `${who} ${partWords(`.${part}`, manner)}`;
  return random.pick([who, who, `${who} name`, `name of ${who}`]);
}

const namesIn = (id: string, language: Language): readonly string[] =>
  labelsOf(id, language)
    .map(bare)
    .filter((label) => label.length > 2);

/** Words for a part of somebody, without whose it is: `.phone`. */
export function partWords(part: string, { random, language }: Manner): string {
  const labels = namesIn(part, language);
  const isOwn = labels.length === 0 || (language === 'en' && random.chance(0.65));
  return isOwn ? part.slice(1) : random.pick(labels);
}

export const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function description(id: string, concept: Concept, { random, language }: Manner): string {
  const label = labelsOf(conceptFor(id).id, language)[0] ?? concept.id;
  const own = language === 'en' ? concept.says.filter((text) => text !== '') : [];
  const end = id.endsWith(':start') ? 'First day: ' : id.endsWith(':end') ? 'Last day: ' : '';
  const text = end + (own.length > 0 ? random.pick(own) : label);
  const tail = random.pick([
    '',
    '',
    '',
    '.',
    ', as printed',
    concept.is === 'date' ? ' (YYYY-MM-DD)' : '',
    ', or null',
    '; null if it is not there',
  ]);
  return (random.chance(0.6) ? capitalised(text) : text) + tail;
}

const TYPES: Readonly<Record<string, string>> = {
  money: 'number',
  amount: 'number',
  number: 'number',
  percent: 'number',
  integer: 'integer',
  year: 'integer',
  flag: 'boolean',
};
const FORMATS: Readonly<Record<string, string>> = { date: 'date', range: 'date', email: 'email', url: 'uri' };

/** The type that a value of a concept is asked for by. */
function typeOf({ is }: Concept, json: Json, random: Random): string {
  const type = TYPES[is] ?? 'string';
  if (type !== 'integer') return type;
  const isWhole = typeof json !== 'number' || Number.isInteger(json);
  return isWhole && random.chance(0.85) ? 'integer' : 'number';
}

/** Title, description and examples, as far as this schema has them. */
function toldOf(id: string, concept: Concept, manner: Manner): Readonly<Record<string, Json>> {
  const { random, hasFormat } = manner;
  const told: Record<string, Json> = {};
  const isBareDate = FORMATS[concept.is] === 'date' && !hasFormat;
  const text = description(id, concept, manner);
  if (random.chance(manner.titles)) told['title'] = capitalised(wordsFor(id, manner).replace(/_/g, ' '));
  if (isBareDate && !text.includes('YYYY')) told['description'] = `${text} (YYYY-MM-DD)`;
  else if (isBareDate || random.chance(manner.describes)) told['description'] = text;
  if (concept.is === 'code' && random.chance(manner.examples))
    told['examples'] = [random.filled(random.pick(concept.options))];
  return told;
}

/** The schema of one member. */
export function member(
  id: string,
  { page, json }: { page: Language; json: Json },
  manner: Manner,
): JsonObject {
  const { random, nullable, hasFormat } = manner;
  const concept = conceptFor(id);
  const type = typeOf(concept, json, random);
  const told = toldOf(id, concept, manner);
  const form: Record<string, Json> = {};
  const format = FORMATS[concept.is];
  if (format !== undefined && hasFormat && (format === 'date' || random.chance(0.4))) form['format'] = format;
  const choices = concept.choices[page];
  if (choices !== undefined && random.chance(0.75))
    form['enum'] = nullable === 'list' ? [...choices, null] : choices;
  if (nullable === 'anyOf') return { ...told, anyOf: [{ type, ...form }, { type: 'null' }] };
  return { ...told, type: nullable === 'list' ? [type, 'null'] : type, ...form };
}
