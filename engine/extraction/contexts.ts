import type { EvidenceKind } from './evidence.ts';
import type { Candidate } from './candidates.ts';
import { overlap, type Layout, type Segment } from './places/layout.ts';
import { endingScore, wholeScore, type Judged } from './fields/labels.ts';
import { currencyOf } from './values/numbers.ts';

const LEFT = 0.97;
const LEFT_DECAY = 0.06;
const ABOVE = 0.85;
const ABOVE_ROWS_MAX = 6;
const ABOVE_DECAY = 0.05;
const ABOVE_POINTS_MAX = 75;
/** Between a label and its amount it says nothing of what the amount is. */
export const isCurrencyAlone = (text: string): boolean =>
  currencyOf(text.replace(/[:\s]/g, '')) !== undefined;
/** A second label that agrees adds this share of its score. */
const AGREEMENT = 0.15;

/** How well a label says a field, and where it stands. */
export interface Context {
  readonly score: number;
  readonly kind: EvidenceKind;
}

/**
 * How well what stands around a value names a field: before it in its own segment, in the segments to its
 * left, or above it in its column. The best counts, and a little of the second.
 */
export function contextOf(candidate: Candidate, layout: Layout, judged: Judged): Context {
  const before = candidate.segment.text.slice(0, candidate.from);
  const contexts: Context[] = [
    { kind: /[:：]\s*$/u.test(before) ? 'colon' : 'inline', score: ownScore(candidate, judged) },
  ];
  if (isBare(before))
    contexts.push(
      { kind: 'beside', score: leftScore(candidate.segment, layout, judged) },
      {
        kind: 'under',
        score: aboveScore(candidate.segment, layout, judged) * (isOneOfMany(candidate, layout) ? OF_MANY : 1),
      },
    );
  const [best, second] = contexts.sort((a, b) => b.score - a.score);
  return {
    kind: best?.kind ?? 'inline',
    score: Math.min(1, (best?.score ?? 0) + AGREEMENT * (second?.score ?? 0)),
  };
}

/** The score of the context alone. */
export const contextScore = (candidate: Candidate, layout: Layout, judged: Judged): number =>
  contextOf(candidate, layout, judged).score;

/** An amount in a row of several is a row's, seldom the document's. */
const OF_MANY = 0.85;

const isOneOfMany = ({ kind, segment }: Candidate, { rows }: Layout): boolean =>
  kind === 'number' &&
  (rows[segment.row]?.segments.filter(({ text }) => /\d/.test(text) && !/\p{L}{4}/u.test(text)).length ??
    0) >= 3;

/** No word stands before the value in its own segment: signs, currencies and other values do not count. */
const isBare = (before: string): boolean =>
  !/\p{L}{3,}/u.test(
    before.replace(/\b(?:[A-Z]{3}|Rs|Euros?)\b\.?/g, (mark) => (currencyOf(mark) === undefined ? mark : '')),
  );

const ownScore = ({ segment, from }: Candidate, judged: Judged): number =>
  endingScore(segment.text.slice(0, from), judged);

/** The first segments to the left that are words; other values on the way make it less. */
function leftScore(segment: Segment, layout: Layout, judged: Judged): number {
  const row = layout.rows[segment.row]?.segments ?? [];
  const before = row.filter(({ index }) => index < segment.index).reverse();
  let weight = LEFT;
  for (const { text } of before) {
    if (isCurrencyAlone(text)) continue;
    if (/\p{L}{2,}/u.test(text))
      return weight * Math.max(wholeScore(text, judged.scoreOf), endingScore(text, judged) * 0.95);
    weight -= LEFT_DECAY;
  }
  return 0;
}

function aboveScore(segment: Segment, layout: Layout, judged: Judged): number {
  let weight = ABOVE;
  let best = 0;
  for (let row = segment.row - 1; row >= Math.max(0, segment.row - ABOVE_ROWS_MAX); row -= 1) {
    const above = layout.rows[row]?.segments.find((other) => isAbove(other, segment));
    if (above === undefined) continue;
    const label = Math.max(
      wholeScore(wordsAbove(above, segment), judged.scoreOf),
      wholeScore(above.text, judged.scoreOf),
    );
    best = Math.max(best, weight * label);
    weight -= ABOVE_DECAY;
  }
  return best;
}

export const isAbove = (other: Segment, segment: Segment): boolean =>
  other.page === segment.page &&
  overlap(other, segment) > 0.15 &&
  segment.y0 - other.y1 < ABOVE_POINTS_MAX &&
  segment.y0 > other.y0 + 2;

/** Of a wide header, only the words over the value. */
function wordsAbove(above: Segment, segment: Segment): string {
  if (above.x1 - above.x0 < 1.6 * (segment.x1 - segment.x0) || above.words.length < 2) return above.text;
  const over = above.words.filter(
    ({ box }) => box !== null && box[0] < segment.x1 + 8 && box[2] > segment.x0 - 8,
  );
  return over.length === 0 ? above.text : over.map(({ text }) => text).join(' ');
}
