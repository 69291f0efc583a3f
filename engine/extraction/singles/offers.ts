import type { Field } from '../fields/fields.ts';
import type { Pair } from '../form/form.ts';
import type { Source } from '../source.ts';
import { isValue } from '../texts.ts';
import { mentions } from './mentions.ts';
import { labelIndexOf, type ScoredLabel } from './labelIndex.ts';
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
    .map(({ label, score }) => ({ label, score: score * ownShare(field, { label, score }, source) }))
    .filter(({ score }) => score >= SCORE_MIN)
    .flatMap(({ label, score }) =>
      label.pairs.slice(0, PAIRS_MAX).flatMap((pair) => offered(field, { pair, score }, source)),
    );
  return [...paired, ...mentions(field, source)]
    .sort((a, b) => b.score - a.score || a.segment.index - b.segment.index || a.from - b.from)
    .slice(0, OFFERS_MAX);
}

/** From here a label says the field's own name, whatever concept it also is. */
const OWN_NAME = 0.95;
const SAID_BY_OTHER = 0.95;
/** So much better another concept is said. */
const BETTER = 0.1;
const OTHERS_SHARE = 0.5;

/** A label that is known to say another concept than the field's says the field but half: a subtotal is no total. */
function ownShare({ concept }: Field, { label, score }: ScoredLabel, { labels }: Source): number {
  if (score >= OWN_NAME || concept === undefined) return 1;
  const best = labels.any(label.words);
  const isOthers = best >= SAID_BY_OTHER && labels.concept(concept.id, label.words) < best - BETTER;
  return isOthers ? OTHERS_SHARE : 1;
}

interface ScoredPair {
  readonly pair: Pair;
  readonly score: number;
}

function offered(field: Field, { pair, score }: ScoredPair, source: Source): readonly Offer[] {
  const [value] = valuesAt(pair.value, { field, conventions: source.conventions });
  const shape = shapeOf(field);
  const isFree = shape === 'text' || shape === 'name';
  if (value === undefined || (isFree && isLabelText(value, pair, source))) return [];
  return [{ ...value, kind: pair.kind, score }];
}

/** A text that says a label, of this field or of another, is none of its values. */
function isLabelText(value: Reading, { kind }: Pair, source: Source): boolean {
  if (kind !== 'colon' && !isValue({ ...value.segment, text: value.text }, source)) return true;
  const isPlain = kind === 'beside' || kind === 'under';
  return isPlain && labelIndexOf(source).form.labels.has(value.segment);
}
