import type { Json } from '../kernel/json.ts';
import type { Field } from '../extraction/fields/fields.ts';
import { squeezed, textOf } from './candidates.ts';
import { FEATURES, type Candidate } from './features.ts';
import type { Singles } from './scorer.ts';
import type { Span } from './spans.ts';

/** What the shipped scorer makes of a value that a field may have: examples are learned from beside it. */
export interface Sight {
  /** 0..1: how likely it finds it. */
  readonly liking: number;
  /** What it sees of it, in steps. */
  readonly seen: readonly string[];
}

/** Of a value that the scorer did not weigh. */
export const UNSEEN: Sight = { liking: 0, seen: [] };

/** What says the same in layouts that differ: forms, extents, ranks, places on the page, labels as far as they fit. */
const LOOKED_AT = [
  'relation', 'inCell', 'cut', 'block', 'level', 'lines', 'goesOn', 'cameFrom', 'kind', 'org', 'person', 'address',
  'low', 'comma', 'isUpper', 'range', 'x', 'y', 'page', 'lastPage', 'order', 'font', 'bold', 'numberRank', 'dateRank',
  'dateRankFromEnd', 'leftDigits', 'numbersAbove', 'atStart', 'atEnd', 'words', 'digits', 'rangeFits', 'self.both',
  'rival', 'lead', 'best', 'rank', 'sameValue', 'rules.same', 'rules.partly', 'rules.here', 'near.both', 'any.both',
  'any.lexicon', 'any.phrase',
].map((name) => FEATURES.indexOf(name)); // prettier-ignore

/** Log odds from here on up count, over so many. */
const [ODDS_FROM, ODDS_RANGE] = [-6, 8];
/** Steps are finer near nothing. */
const STEPS = 4;

const likingOf = (odds: number): number => Math.max(0, Math.min(1, (odds - ODDS_FROM) / ODDS_RANGE));

const seenOf = ({ row }: Candidate): readonly string[] =>
  LOOKED_AT.map((at) => `${String(at)}#${String(Math.round(STEPS * Math.asinh(row[at] ?? 0)))}`);

/** Where a value stands: a part of a line, or a part of it and so many lines below. */
export interface Standing extends Pick<Span, 'segment' | 'from'> {
  readonly below: number;
  readonly value: Json;
}

const keyOf = ({ segment, from, below, value }: Standing): string =>
  [segment.index, from, below, squeezed(textOf(value))].join(' ');

/** What the scorer makes of the values of a field. */
export function sightsOf(
  field: Field,
  { candidatesOf, oddsOf }: Pick<Singles, 'candidatesOf' | 'oddsOf'>,
): (value: Standing) => Sight {
  const known = new Map<string, Candidate>();
  for (const one of candidatesOf(field)) {
    const { span, value } = one;
    const key = keyOf({ segment: span.segment, from: span.from, below: span.more.length, value });
    if (!known.has(key)) known.set(key, one);
  }
  return (value) => {
    const one = known.get(keyOf(value));
    return one === undefined ? UNSEEN : { liking: likingOf(oddsOf(one)), seen: seenOf(one) };
  };
}
