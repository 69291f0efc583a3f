import type { Word } from '../../document/document.ts';
import { endingScore, judgedFor, says } from '../words/says.ts';
import { termsIn } from '../fields/terms.ts';
import type { Pair } from '../form/pair.ts';
import type { Field } from '../fields/fields.ts';
import type { EvidenceKind, Finding } from '../finding.ts';
import { isInstruction, isLabelLike, isPlaceholder } from '../form/printed.ts';
import { isOtherEnd } from '../parts/ranges.ts';
import type { Source } from '../source.ts';
import { labelIndexOf } from './labelIndex.ts';
import { impliedBy, shapeOf } from './shapes.ts';

/** A text that says its own field's name so well is its label. */
const LABEL_FROM = 0.8;

/** Whatever found it: the number of a line, a blank, an instruction, or a label is no value. */
export function isNoValue(field: Field, { text, words, kind }: Finding, source: Source): boolean {
  if (isPrinted(field, text) || (kind !== 'prose' && saysField(field, text))) return true;
  const [first] = words;
  if (first === undefined) return false;
  if (isOtherEnd(field, first, source)) return true;
  const isUnlabelled = kind === 'place' || kind === 'sum' || field.kind === 'currency';
  return isLeftOpen(field, { first, kind }, source) || (!isUnlabelled && isOthers(field, first, source));
}

/**
 * A blank, or the text of a box that is not ticked. What the box itself says of it stands, and an amount beside it
 * says what the choice would cost.
 */
export function isLeftOpen(
  field: Field,
  { first, kind }: { readonly first: Word; readonly kind?: EvidenceKind | undefined },
  source: Source,
): boolean {
  const { form, unticked } = labelIndexOf(source);
  const isAmount = field.type === 'number' || field.type === 'integer';
  return form.blanks.has(first) || (kind !== 'box' && !isAmount && unticked.has(first));
}

const isPrinted = (field: Field, text: string): boolean =>
  isUnnamedPlace(field, text) ||
  isPlaceholder(text) ||
  isInstruction(text) ||
  (shapeOf(field) === 'name' && (isLabelLike(text) || SEVERAL.test(text)));

/** "DOB / Age / Sex" is the head of several values. */
const SEVERAL = /\s\/\s.*\s\/\s/u;

function saysField(field: Field, text: string): boolean {
  const shape = shapeOf(field);
  if (shape !== 'text' && shape !== 'name') return false;
  return says({ label: termsIn(text), context: [], implied: impliedBy(shape) }, field.terms) >= LABEL_FROM;
}

const PLACES: ReadonlySet<string> = new Set(['city', 'region', 'country']);

/** A place without letters: a year is no state. */
const isUnnamedPlace = ({ type, concept }: Field, text: string): boolean =>
  type === 'string' && PLACES.has(concept?.id ?? '') && !/\p{L}/u.test(text);

/** A label that says so much of the field may be the field's. */
const SAYS = 0.45;

/** Stands after the colon, or in the cell, of a label that is another's. */
function isOthers(field: Field, first: Word, source: Source): boolean {
  const claims = labelIndexOf(source).form.claims.get(first) ?? [];
  const implied = impliedBy(shapeOf(field));
  const isClaimed = ({ label, context }: Pair): boolean => {
    const words = termsIn(label);
    const own = says({ label: words, context: termsIn(context), implied }, field.terms);
    return Math.max(own, endingScore(label, judgedFor(field, source.labels))) >= SAYS;
  };
  return claims.length > 0 && !claims.some(isClaimed);
}
