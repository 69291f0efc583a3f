import type { Field } from '../fields/fields.ts';
import type { Pair } from '../form/form.ts';
import type { Source } from '../source.ts';
import { isValue } from '../texts.ts';
import { mentions } from './mentions.ts';
import { labelIndexOf } from './labelIndex.ts';
import { impliedBy, shapeOf } from './shapes.ts';
import type { Offer } from './offer.ts';
import { valuesAt, type Reading } from './values.ts';

const SCORE_MIN = 0.5;
const OFFERS_MAX = 12;
const PAIRS_MAX = 6;

/** All that a document offers a field by labels and sentences, the best first. */
export function offersFor(field: Field, source: Source): readonly Offer[] {
  const paired = labelIndexOf(source)
    .labelled(field.terms, impliedBy(shapeOf(field)))
    .filter(({ score }) => score >= SCORE_MIN)
    .flatMap(({ label, score }) => label.pairs.slice(0, PAIRS_MAX).flatMap((pair) => offered(field, { pair, score }, source)));
  return [...paired, ...mentions(field, source)]
    .sort((a, b) => b.score - a.score || a.segment.index - b.segment.index || a.from - b.from)
    .slice(0, OFFERS_MAX);
}

function offered(field: Field, { pair, score }: { pair: Pair; score: number }, source: Source): readonly Offer[] {
  const [value] = valuesAt(pair.value, { field, conventions: source.conventions });
  if (value === undefined || isLabelText(field, value, pair, source)) return [];
  return [{ ...value, kind: pair.kind, score }];
}

/** A text that says a label, of this field or of another, is none of its values. */
function isLabelText(field: Field, value: Reading, pair: Pair, source: Source): boolean {
  const shape = shapeOf(field);
  if (shape !== 'text' && shape !== 'name') return false;
  if (pair.kind !== 'colon' && !isValue({ ...value.segment, text: value.text }, source)) return true;
  return pair.kind === 'beside' || pair.kind === 'under' ? isLabelHere(value, source) : false;
}

/** The document itself has it before a colon, or beside a value. */
const isLabelHere = ({ segment }: Reading, source: Source): boolean =>
  labelIndexOf(source).form.labels.has(segment);
