import type { Field } from '../fields/fields.ts';

/** What a field's value looks like, beyond its kind. */
export type Shape =
  | 'boolean' | 'choice' | 'date' | 'year' | 'time' | 'integer' | 'number' | 'percent' | 'phone' | 'email' | 'url'
  | 'iban' | 'bic' | 'vat_id' | 'currency' | 'code' | 'name' | 'text'; // prettier-ignore

const YEAR = new Set(['year', 'jahr', 'annee', 'ano', 'anno', 'jaar', 'exercice', 'ejercicio']);
const TIME = new Set(['time', 'uhrzeit', 'heure', 'hora', 'ora', 'orario', 'tijd', 'zeit', 'beginn']);
const CODE = new Set(
  'nr number code ssn key serial vin isbn issn expediente zip postcode postal plz cp reference ref kennzeichen aktenzeichen'.split(
    ' ',
  ),
);
const PHONE = new Set('phone fax hotline mobile cell telefono telephone telefax handy gsm'.split(' '));
const EMAIL = new Set('email mail courriel correo'.split(' '));
const PERSON = new Set(
  'name nom nombre apellido apellidos vorname nachname familienname prenom cognome nome surname forename author signatory signer signed chair chairman president secretary director manager teacher doctor physician patient applicant employee recipient sender superintendent maire naam achternaam voornaam'.split(
    ' ',
  ),
);
const PERCENT = new Set('percent percentage pct share rate quote anteil taux tasa'.split(' '));

const says = ({ terms: { all } }: Field, words: ReadonlySet<string>): boolean =>
  [...all].some((word) => words.has(word));
const named = ({ terms: { name } }: Field, words: ReadonlySet<string>): boolean =>
  name.some((word) => words.has(word));

/** The shape of a field's value: by its type, its choices, its kind, and last by the words of its name. */
export function shapeOf(field: Field): Shape {
  const { type, kind, choices } = field;
  if (type === 'boolean') return 'boolean';
  if (choices.length > 0) return 'choice';
  if (type === 'integer' || type === 'number') {
    if (named(field, YEAR)) return 'year';
    return type === 'integer' ? 'integer' : 'number';
  }
  if (kind === 'number' || kind === 'integer' || kind === 'percent') return textShape(field);
  return kind === 'text' || kind === 'party' || kind === 'id' || kind === 'address' ? textShape(field) : plain(kind);
}

const plain = (kind: Field['kind']): Shape =>
  kind === 'party' || kind === 'address' || kind === 'id' ? 'text' : kind === 'boolean' ? 'text' : kind;

function textShape(field: Field): Shape {
  if (named(field, TIME)) return 'time';
  if (named(field, PHONE)) return 'phone';
  if (named(field, EMAIL)) return 'email';
  if (field.kind === 'id' || named(field, CODE)) return 'code';
  if (field.kind === 'text' && named(field, YEAR)) return 'year';
  if (field.kind === 'party' || named(field, PERSON)) return 'name';
  if (says(field, PHONE) && !says(field, CODE)) return 'phone';
  return 'text';
}

/** A number that is a share of a whole may be written with its sign. */
export const isShare = (field: Field): boolean => says(field, PERCENT);

const COUNTED = new Set('nr number count nombre numero anzahl total amount value quantity cantidad'.split(' '));
const DATED = new Set('date datum fecha data day on'.split(' '));

const IMPLIED: Readonly<Partial<Record<Shape, ReadonlySet<string>>>> = {
  time: TIME,
  year: YEAR,
  phone: new Set([...PHONE, 'nr', 'number']),
  email: new Set([...EMAIL, 'address']),
  integer: COUNTED,
  number: COUNTED,
  percent: PERCENT,
  date: DATED,
  code: new Set(['nr', 'number', 'code', 'key', 'reference', 'numero']),
};
const NOTHING: ReadonlySet<string> = new Set();

/** Words that a value of a shape need not have beside it, for its form says them. */
export const impliedBy = (shape: Shape): ReadonlySet<string> => IMPLIED[shape] ?? NOTHING;

/** Identifiers of a known length have at least so many letters and digits. */
const LENGTHS: Readonly<Record<string, number>> = { ssn: 7, vin: 11, isbn: 10, issn: 8, iban: 15 };

/** The fewest letters and digits that a field's code has. */
export const codeLength = ({ terms: { all } }: Field): number =>
  Math.max(1, ...[...all].map((word) => LENGTHS[word] ?? 1));
