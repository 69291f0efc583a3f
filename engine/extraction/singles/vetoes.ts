import type { Field } from '../fields/fields.ts';
import type { Finding } from '../finding.ts';
import { isInstruction, isPlaceholder } from '../form/printed.ts';
import { termsIn } from '../matching/terms.ts';
import { likeness } from '../matching/likeness.ts';
import type { Source } from '../source.ts';
import { labelIndexOf } from './labelIndex.ts';
import { impliedBy, shapeOf } from './shapes.ts';

/** A text that says its own field's name so well is its label. */
const LABEL_FROM = 0.8;

/** Whatever found it: the number of a line, a blank, an instruction, or the label itself is no value. */
export function isNoValue(field: Field, { text, words }: Finding, source: Source): boolean {
  if (isPlaceholder(text) || isInstruction(text)) return true;
  const { form } = labelIndexOf(source);
  const [first] = words;
  if (first !== undefined && form.printedWords.has(first)) return true;
  const shape = shapeOf(field);
  if (shape !== 'text' && shape !== 'name') return false;
  return likeness(field.terms, { label: termsIn(text), context: [], implied: impliedBy(shape) }) >= LABEL_FROM;
}
