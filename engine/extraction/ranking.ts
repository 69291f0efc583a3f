import type { Candidate } from './candidates.ts';
import { type EvidenceKind, findingOf, type Finding } from './finding.ts';
import { judgedFor, endingScore, wholeScore, type Judged } from './words/says.ts';
import type { ValueKind } from './words/concepts.ts';
import type { Field } from './fields/fields.ts';
import { partyAt } from './parties/partyTitles.ts';
import type { Source } from './source.ts';
import { digitsAround, isMark, currencyOf } from './values/numbers.ts';
import { overlap, type Layout, type Segment } from './places/layout.ts';

export interface Ranked {
  readonly candidate: Candidate;
  readonly score: number;
  readonly kind: EvidenceKind;
}

/** Below this a label is no label. */
export const LABELLED = 0.55;

/** Kinds that some value of may be taken without any label, and how much its form alone is worth. */
const UNLABELLED: Readonly<Partial<Record<ValueKind, number>>> = {
  iban: 0.6,
  vat_id: 0.45,
  email: 0.5,
  url: 0.4,
  bic: 0.3,
};

/** The candidates for a field, the best first; of equals the first in the document. */
export function ranked(field: Field, source: Source): readonly Ranked[] {
  const kinds: readonly ValueKind[] = field.kind === 'percent' ? ['percent', 'number'] : kindsFor(field);
  return kinds
    .flatMap((kind) => source.candidates.get(kind) ?? [])
    .filter((one) => one.kind !== 'number' || !isMark(one.segment.text, one))
    .map((candidate) => ({ candidate, ...scoreOf(field, candidate, source) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.candidate.segment.index - b.candidate.segment.index);
}

const kindsFor = ({ kind, concept }: Field): readonly ValueKind[] => {
  if (kind === 'number') return concept?.kind === 'percent' ? ['percent', 'number'] : ['number'];
  return kind === 'integer' ? ['number'] : [kind];
};

function scoreOf(field: Field, candidate: Candidate, source: Source): Context {
  const label = contextOf(candidate, source.layout, judgedFor(field, source.labels));
  const unlabelled = UNLABELLED[field.kind] ?? 0;
  const base = Math.max(label.score, unlabelled);
  const score = base * (0.8 + 0.2 * candidate.strictness) * partyFactor(field, candidate, source);
  return { score, kind: label.score >= unlabelled ? label.kind : 'form' };
}

/** Kinds of values that every party has. */
const OF_PARTIES: ReadonlySet<ValueKind> = new Set(['vat_id', 'email', 'phone', 'url', 'iban']);

/** A seller's field is not taken from the buyer's section, nor the other way round. */
function partyFactor({ kind, concept, role }: Field, { segment }: Candidate, source: Source): number {
  if (!OF_PARTIES.has(kind)) return 1;
  const section = partyAt(segment, source);
  const wanted = concept?.id === 'buyer_vat_id' ? 'buyer' : role;
  if (wanted === undefined || wanted === 'payee') return section === 'buyer' ? 0.8 : 1;
  return section === wanted ? 1 : elsewhere(section, wanted);
}

/** Outside of every section stands the seller's, as a rule. */
const elsewhere = (section: string | undefined, wanted: string): number =>
  section === 'buyer' || section === 'seller' || wanted === 'buyer' ? 0.5 : 0.9;

/** The best candidate as a finding, when its label or form is good enough. */
export function pick(field: Field, source: Source): Finding | undefined {
  return (
    pickLabelled(field, source) ?? (field.concept?.id === 'invoice_date' ? firstDate(source) : undefined)
  );
}

/** The date of a document that has no label: its only one, or the first of its head. */
function firstDate(source: Source): Finding | undefined {
  const dates = (source.candidates.get('date') ?? []).filter(({ strictness }) => strictness === 1);
  const [first] = dates;
  if (first === undefined) return undefined;
  const days = new Set(dates.map(({ value }) => value)).size;
  const height = source.layout.segments.reduce((most, { y1 }) => Math.max(most, y1), 0);
  if (days > 1 && first.segment.y0 > 0.4 * height) return undefined;
  if (!isBareDate(first)) return undefined;
  return findingOf(first, { label: days === 1 ? 0.6 : 0.4, margin: 0, agreement: 0, kind: 'form' });
}

/** Little else stands on its line: a date in a sentence is about something else. */
const isBareDate = ({ segment, text }: Candidate): boolean =>
  segment.text
    .replace(text, '')
    .replace(/\d{1,2}:\d{2}(?::\d{2})?/, '')
    .replace(/[^\p{L}]/gu, '').length <= 16;

/** A number that is a part of more digits is none: all of them are what stands there, as text. */
function wholeDigits(candidate: Candidate): Candidate {
  const run = candidate.kind === 'number' ? digitsAround(candidate.segment.text, candidate) : undefined;
  return run === undefined ? candidate : { ...candidate, ...run, value: run.text };
}

function pickLabelled(field: Field, source: Source): Finding | undefined {
  const [best, next] = ranked(field, source);
  const least = UNLABELLED[field.kind] === undefined ? LABELLED : 0.35;
  if (best === undefined || best.score < least) return undefined;
  const rival = next !== undefined && next.candidate.value !== best.candidate.value ? next.score : 0;
  return findingOf(wholeDigits(best.candidate), {
    label: best.score,
    margin: best.score - rival,
    agreement: 0,
    kind: best.kind,
  });
}

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
