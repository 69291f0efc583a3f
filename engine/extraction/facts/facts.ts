import type { Field } from '../fields/fields.ts';
import type { Finding } from '../finding.ts';
import type { Source } from '../source.ts';
import { bylineFact } from './bylines.ts';
import { mailFact, type Fact } from './mailFacts.ts';

/**
 * What the document as a whole says of a field: a message's header, a letter's or a paper's parts. undefined
 * where the field asks for no such part.
 */
export const factFor = (field: Field, source: Source): Fact | undefined =>
  mailFact(field, source) ?? bylineFact(field, source);

/** A fact of several values as one text. */
export function joinedFact({ findings }: Fact): Finding | undefined {
  const [first, ...others] = findings;
  if (first === undefined || others.length === 0) return first;
  const text = findings.map((one) => (typeof one.value === 'string' ? one.value : one.text)).join(', ');
  return { ...first, value: text, text, words: findings.flatMap(({ words }) => words) };
}
