import type { Field } from '../fields/fields.ts';
import { weightOf } from '../matching/terms.ts';
import parts from '../lexicon/parts.json' with { type: 'json' };

type Asked =
  | 'issuer'
  | 'trade'
  | 'issuer_kind'
  | 'event'
  | 'title'
  | 'headed'
  | 'holder'
  | 'profession'
  | 'recipient'
  | 'signer'
  | 'role'
  | 'place'
  | 'date_of'
  | 'start'
  | 'end';

const WORDS: Readonly<Record<Asked, ReadonlySet<string>>> = {
  issuer: new Set(parts.issuer),
  trade: new Set(parts.trade),
  issuer_kind: new Set(parts.issuer_kind),
  event: new Set(parts.event),
  title: new Set(parts.title),
  headed: new Set(parts.headed),
  holder: new Set(parts.holder),
  profession: new Set(parts.profession),
  recipient: new Set(parts.recipient),
  signer: new Set(parts.signer),
  role: new Set(parts.role),
  place: new Set(parts.place),
  date_of: new Set(parts.date_of),
  start: new Set(parts.start),
  end: new Set(parts.end),
};

/** A word of the field's name asks for such a part of a document. */
export const asks = ({ terms: { name } }: Field, part: Asked): boolean =>
  name.some((word) => WORDS[part].has(word));

/** The name asks for such a part and, but for words that any name has, for nothing else. */
export const asksOnly = (field: Field, part: Asked): boolean =>
  asks(field, part) && field.terms.name.every((word) => WORDS[part].has(word) || weightOf(word) < 1);

/** The words of the name that ask for no such part. */
export const otherWords = ({ terms: { name } }: Field, part: Asked): readonly string[] =>
  name.filter((word) => !WORDS[part].has(word) && weightOf(word) === 1);
