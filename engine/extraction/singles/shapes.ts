import { ownMember } from '../../kernel/json.ts';
import type { Field } from '../fields/fields.ts';
import { lexicon, type WordSet } from '../words/lexicon.ts';
import { asks, type Want } from '../fields/wants.ts';

/** What a field's value looks like, beyond its kind. */
export type Shape =
  | 'boolean' | 'choice' | 'date' | 'year' | 'time' | 'integer' | 'number' | 'percent' | 'phone' | 'email' | 'url'
  | 'iban' | 'bic' | 'vat_id' | 'currency' | 'code' | 'name' | 'text'; // prettier-ignore

/** The shape of a field's value: by its type, its choices, its kind, and last by the words of its name. */
export function shapeOf(field: Field): Shape {
  const { type, kind, choices } = field;
  if (type === 'boolean') return 'boolean';
  if (choices.length > 0) return 'choice';
  if (type === 'string') return SAID_BY_KIND.has(kind) ? (kind as Shape) : textShape(field);
  if (asks(field, 'year')) return 'year';
  return type;
}

/** Kinds whose values show what they are. */
const SAID_BY_KIND: ReadonlySet<Field['kind']> = new Set<Field['kind']>([
  'date', 'phone', 'email', 'url', 'iban', 'bic', 'vat_id', 'currency',
]); // prettier-ignore

/** By the words of its name, the first that says one. */
function textShape(field: Field): Shape {
  const byName = NAMED.find(([want]) => asks(field, want))?.[1];
  if (field.kind === 'id') return byName === 'time' || byName === 'phone' ? byName : 'code';
  if (byName !== undefined) return byName;
  if (field.kind === 'party') return 'name';
  return field.wants.all.has('phone') ? 'phone' : 'text';
}

const NAMED: readonly (readonly [Want, Shape])[] = [
  ['clock', 'time'],
  ['phone', 'phone'],
  ['email', 'email'],
  ['code', 'code'],
  ['year', 'year'],
  ['full_name', 'name'],
];

/** A number that is a share of a whole may be written with its sign. */
export const isShare = (field: Field): boolean => field.wants.all.has('percent');

const IMPLIED: Readonly<Partial<Record<Shape, WordSet>>> = {
  time: lexicon.asks.clock,
  year: lexicon.asks.year,
  phone: new Set([...lexicon.asks.phone.words, 'nr', 'number']),
  email: new Set([...lexicon.asks.email.words, 'address']),
  integer: lexicon.implied.count,
  number: lexicon.implied.count,
  percent: lexicon.asks.percent,
  date: lexicon.implied.date,
  code: lexicon.implied.code,
};
const NOTHING: WordSet = new Set();

/** Words that a value of a shape need not have beside it, for its form says them. */
export const impliedBy = (shape: Shape): WordSet => IMPLIED[shape] ?? NOTHING;

/** Identifiers of a known length have at least so many letters and digits. */
const LENGTHS: Readonly<Record<string, number>> = { ssn: 7, vin: 11, isbn: 10, issn: 8, iban: 15 };

/** The fewest letters and digits that a field's code has. */
export const codeLength = ({ terms: { all } }: Field): number =>
  Math.max(1, ...[...all].map((word) => ownMember(LENGTHS, word) ?? 1));
