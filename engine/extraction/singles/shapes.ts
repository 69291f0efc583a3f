import { ownMember } from '../../kernel/json.ts';
import type { Field } from '../fields/fields.ts';

/** What a field's value looks like, beyond its kind. */
export type Shape =
  | 'boolean' | 'choice' | 'date' | 'year' | 'time' | 'integer' | 'number' | 'percent' | 'phone' | 'email' | 'url'
  | 'iban' | 'bic' | 'vat_id' | 'currency' | 'code' | 'name' | 'text'; // prettier-ignore

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

const YEAR = words('year jahr annee ano anno jaar exercice ejercicio');
const TIME = words('time uhrzeit heure hora ora orario tijd zeit beginn');
const CODE = words(
  'nr number code ssn key serial vin isbn issn expediente zip postcode postal plz cp reference ref kennzeichen ' +
    'aktenzeichen',
);
const PHONE = words('phone fax hotline mobile cell telefono telephone telefax handy gsm');
const EMAIL = words('email mail courriel correo');
const PERSON = words(
  'name nom nombre apellido apellidos vorname nachname familienname prenom cognome nome surname forename author ' +
    'signatory signer signed chair chairman president secretary director manager teacher doctor physician patient ' +
    'applicant employee recipient sender superintendent maire naam achternaam voornaam by',
);
const PERCENT = words('percent percentage pct cent share rate quote anteil taux tasa');

const says = ({ terms: { all } }: Field, some: ReadonlySet<string>): boolean =>
  [...all].some((word) => some.has(word));
const named = ({ terms: { name } }: Field, some: ReadonlySet<string>): boolean =>
  name.some((word) => some.has(word));

/** The shape of a field's value: by its type, its choices, its kind, and last by the words of its name. */
export function shapeOf(field: Field): Shape {
  const { type, kind, choices } = field;
  if (type === 'boolean') return 'boolean';
  if (choices.length > 0) return 'choice';
  if (type === 'string') return SAID_BY_KIND.has(kind) ? (kind as Shape) : textShape(field);
  if (named(field, YEAR)) return 'year';
  return type;
}

/** Kinds whose values show what they are. */
const SAID_BY_KIND: ReadonlySet<Field['kind']> = new Set<Field['kind']>([
  'date', 'phone', 'email', 'url', 'iban', 'bic', 'vat_id', 'currency',
]); // prettier-ignore

/** By the words of its name, the first that says one. */
function textShape(field: Field): Shape {
  const byName = NAMED.find(([some]) => named(field, some))?.[1];
  if (field.kind === 'id') return byName === 'time' || byName === 'phone' ? byName : 'code';
  if (byName !== undefined) return byName;
  if (field.kind === 'party') return 'name';
  return says(field, PHONE) ? 'phone' : 'text';
}

const NAMED: readonly (readonly [ReadonlySet<string>, Shape])[] = [
  [TIME, 'time'],
  [PHONE, 'phone'],
  [EMAIL, 'email'],
  [CODE, 'code'],
  [YEAR, 'year'],
  [PERSON, 'name'],
];

/** A number that is a share of a whole may be written with its sign. */
export const isShare = (field: Field): boolean => says(field, PERCENT);

const COUNTED = words('nr number count nombre numero anzahl total amount value quantity cantidad');
const DATED = words('date datum fecha data day on');

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
  Math.max(1, ...[...all].map((word) => ownMember(LENGTHS, word) ?? 1));
