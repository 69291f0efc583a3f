import type { Field } from '../fields/fields.ts';
import { weightOf } from '../fields/terms.ts';
import { lexicon } from '../words/lexicon.ts';

type Asked = Exclude<
  keyof typeof lexicon.parts,
  | 'organization'
  | 'salutations'
  | 'closings'
  | 'civilities'
  | 'academic'
  | 'particles'
  | 'kinds'
  | 'offices'
  | 'authors'
  | 'affiliation'
  | 'period'
>;

const isWordOf = (part: Asked, word: string): boolean => lexicon.parts[part].has(word);

/** A word of the field's name asks for such a part of a document. */
export const asks = ({ terms: { name } }: Field, part: Asked): boolean =>
  name.some((word) => isWordOf(part, word));

/** The name asks for such a part and, but for words that any name has, for nothing else. */
export const asksOnly = (field: Field, part: Asked): boolean =>
  asks(field, part) && field.terms.name.every((word) => isWordOf(part, word) || weightOf(word) < 1);

/** The words of the name that ask for no such part. */
export const otherWords = ({ terms: { name } }: Field, part: Asked): readonly string[] =>
  name.filter((word) => !isWordOf(part, word) && weightOf(word) === 1);
