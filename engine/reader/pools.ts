import type { Json } from '../kernel/json.ts';
import { remembered } from '../kernel/once.ts';
import type { Asked } from './asked.ts';
import { textOf, valueFor } from './candidates.ts';
import { fitFor, formOf } from './forms.ts';
import { scoreAt, SIDE_COUNT, type Likeness } from './likeness.ts';
import type { Places, Relation } from './places.ts';
import type { Span } from './spans.ts';

/** The relations that name a value. */
export const NEAR: readonly Relation[] = ['own', 'left', 'above', 'colhead', 'rowhead', 'before', 'below'];
export const FIRST_OF: readonly Relation[] = ['own', 'left', 'before', 'above'];
const WEIGHED: readonly Relation[] = [...NEAR, 'section'];

/** A value that a field may have, and how it was weighed first. */
export interface Draft {
  readonly span: Span;
  readonly value: Json;
  /** The value without case. */
  readonly key: string;
  readonly fit: number;
  readonly near: number;
  /** How well the labels around it say the field. */
  readonly told: number;
}

/** How the candidates of a field stand to each other. */
export interface Standing {
  readonly top: number;
  readonly tied: number;
  /** The place of each score among those that differ, the best first. */
  readonly rankOf: ReadonlyMap<number, number>;
  /** Where the values that are kept stand, and how well it is told there. */
  readonly same: ReadonlyMap<string, { readonly places: number; readonly told: number }>;
  readonly drafts: number;
}

export interface Drafted {
  readonly best: readonly Draft[];
  readonly standing: Standing;
}

/** A value of the rules, and the span that stands there. */
export interface Own {
  readonly span: Span;
  readonly value: Json;
}

/** What is weighed alike for all fields that look for the same in a value. */
interface Weights {
  readonly fits: Float64Array;
  /** Of what stands early or as a heading, less for long texts. */
  readonly heads: Float64Array;
  /** The values, those that are likeliest without a label first. */
  readonly order: Int32Array;
}

/** All values of one form, in reading order. */
interface Pool {
  readonly spans: readonly Span[];
  readonly values: readonly Json[];
  readonly keys: readonly string[];
  /** The number of each value's key, and at how many places each key stands. */
  readonly keyNumbers: Int32Array;
  readonly places: readonly number[];
  readonly numbers: ReadonlyMap<string, number>;
  /** Places of all values. */
  readonly segments: number;
  /** The values that stand beside each label. */
  readonly beside: ReadonlyMap<number, readonly number[]>;
  readonly weights: Map<string, Weights>;
  /** What a field makes of each value and of each key: 0 between two fields, `rough` not a number. */
  readonly told: Float64Array;
  readonly rough: Float64Array;
  readonly toldOfKey: Float64Array;
}

/** Drafts the candidates of a field, at most `kept` and the rules' own. */
export type Drafting = (asked: Asked, likeness: Likeness, more: More) => Drafted;

interface More {
  readonly kept: number;
  readonly own: Own | undefined;
}

/**
 * The first weighing. What fields of one form have in common is done once for them all; for a field of its own only
 * values beside labels that say something of it are weighed. The others follow in an order that fields share.
 */
export function drafting(spans: readonly Span[], places: Places): Drafting {
  const pools = new Map<string, Pool>();
  return (asked, likeness, more) => {
    const { form, field } = asked;
    const pool =
      form === 'choice'
        ? poolOf(asked, spans)
        : remembered(pools, form === 'number' ? field.type : form, () => poolOf(asked, spans));
    const look = asked.form === 'string' ? Object.values(asked.wants).join() : String(asked.wants.long);
    const weights = remembered(pool.weights, look, () => weightsOf(pool, asked, places));
    return drafted(pool, { ...more, asked, likeness, weights, places });
  };
}

function poolOf(asked: Asked, all: readonly Span[]): Pool {
  const [spans, values, keys]: [Span[], Json[], string[]] = [[], [], []];
  const numbers = new Map<string, number>();
  const [places, last]: [number[], number[]] = [[], []];
  const beside = new Map<number, number[]>();
  let [segments, segment] = [0, -1];
  for (const span of all) {
    const value = valueFor(asked, span);
    if (value === undefined) continue;
    const key = textOf(value).toLowerCase();
    const number = remembered(numbers, key, () => numbers.size);
    const { index } = span.segment;
    if (last[number] !== index) places[number] = (places[number] ?? 0) + 1;
    if (segment !== index) segments += 1;
    last[number] = segment = index;
    for (const label of new Set(WEIGHED.map((relation) => span.labels[relation])))
      if (label !== 0) remembered(beside, label, () => []).push(spans.length);
    spans.push(span);
    values.push(value);
    keys.push(key);
  }
  return {
    spans,
    values,
    keys,
    places,
    numbers,
    segments,
    beside,
    keyNumbers: Int32Array.from(keys, (key) => numbers.get(key) ?? 0),
    weights: new Map(),
    told: new Float64Array(spans.length),
    rough: new Float64Array(spans.length).fill(NaN),
    toldOfKey: new Float64Array(numbers.size),
  };
}

function weightsOf({ spans }: Pool, asked: Asked, places: Places): Weights {
  const fit = fitFor(asked);
  const fits = Float64Array.from(spans, (span) => fit(span));
  const heads = Float64Array.from(spans, (span) => headStart(span, places, asked));
  const rough = (i: number): number => 0.25 * (fits[i] ?? 0) + (heads[i] ?? 0);
  const order = Int32Array.from(spans.keys()).sort((a, b) => rough(b) - rough(a) || a - b);
  return { fits, heads, order };
}

/** What stands early, or as a heading, is likelier; long texts are not, unless they are asked for. */
function headStart(span: Span, places: Places, { wants }: Asked): number {
  const { segment, place } = span;
  const top = segment.page === 1 ? 0.1 - (0.1 * segment.y0) / places.sizeOf(1)[1] : 0;
  const isLong = wants.long === 0 && formOf(span).words > 30;
  return top + (place.block === 'heading' ? 0.1 : 0) - (isLong ? 0.3 : 0);
}

const nearestOf = ({ labels }: Span): number => {
  const relation = FIRST_OF.find((one) => labels[one] !== 0);
  return relation === undefined ? 0 : labels[relation];
};

interface Wanted extends More {
  readonly asked: Asked;
  readonly likeness: Likeness;
  readonly weights: Weights;
  readonly places: Places;
}

/** How well the labels around a span say a field. */
function toldAt(span: Span, likeness: Likeness): number {
  let any = 0;
  for (const relation of NEAR) {
    const label = span.labels[relation];
    if (label !== 0) any = Math.max(any, scoreAt(likeness, label));
  }
  return Math.max(scoreAt(likeness, nearestOf(span)), 0.9 * any);
}

/** The same with all else that speaks for it. */
function roughAt(
  span: Span,
  likeness: Likeness,
  [told, fit, head]: readonly [number, number, number],
): number {
  let phrase = 0;
  for (const relation of NEAR)
    phrase = Math.max(phrase, likeness.shares[span.labels[relation] * SIDE_COUNT + 3] ?? 0);
  return told + 0.25 * fit + 0.15 * scoreAt(likeness, span.labels.section) + 0.15 * phrase + head;
}

/** The rules' own value, weighed like the others. */
interface OwnDraft extends Draft {
  readonly rough: number;
}

function drafted(pool: Pool, wanted: Wanted): Drafted {
  const { spans, values, keys, told, rough } = pool;
  const { fits } = wanted.weights;
  const own = ownDraft(wanted);
  const beside = weighBeside(pool, wanted);
  const others = firstOthers(pool, wanted);
  const best = bestOf([...beside, ...others], rough, wanted.kept).map(
    (i): Draft & { readonly at: number } => {
      const span = spans[i] as Span;
      const value = values[i] as Json;
      return {
        at: i,
        span,
        value,
        key: keys[i] ?? '',
        fit: fits[i] ?? 0,
        near: nearestOf(span),
        told: told[i] ?? 0,
      };
    },
  );
  const before = best.filter(({ at, span }) => {
    const less = (rough[at] ?? 0) - (own?.rough ?? -Infinity);
    return less > 0 || (less === 0 && span.segment.index <= (own?.span.segment.index ?? 0));
  }).length;
  const all = own === undefined ? best : [...best.slice(0, before), own, ...best.slice(before)];
  const kept = all.filter((one, i) => i < wanted.kept || one === own);
  const standing = standingOf(pool, beside, { kept, own });
  for (const i of beside) told[i] = pool.toldOfKey[pool.keyNumbers[i] ?? 0] = 0;
  for (const i of [...beside, ...others]) rough[i] = NaN;
  return { best: kept, standing };
}

function ownDraft({ own, asked, likeness, places }: Wanted): OwnDraft | undefined {
  if (own === undefined) return undefined;
  const { span, value } = own;
  const [told, fit, head] = [toldAt(span, likeness), fitFor(asked)(span), headStart(span, places, asked)];
  const rough = roughAt(span, likeness, [told, fit, head]);
  return { span, value, key: textOf(value).toLowerCase(), fit, near: nearestOf(span), told, rough };
}

/** The values beside labels that say something of the field, each weighed. */
function weighBeside({ spans, beside, told, rough }: Pool, { likeness, weights }: Wanted): readonly number[] {
  const weighed: number[] = [];
  for (const label of likeness.labels)
    for (const i of beside.get(label) ?? []) {
      const span = spans[i];
      if (span === undefined || !Number.isNaN(rough[i])) continue;
      const own = (told[i] = toldAt(span, likeness));
      rough[i] = roughAt(span, likeness, [own, weights.fits[i] ?? 0, weights.heads[i] ?? 0]);
      weighed.push(i);
    }
  return weighed;
}

/** The first of the others, in the order that fields share. */
function firstOthers({ rough }: Pool, { kept, weights: { order, fits, heads } }: Wanted): readonly number[] {
  const first: number[] = [];
  for (let at = 0; at < order.length && first.length < kept; at += 1) {
    const i = order[at] ?? 0;
    if (!Number.isNaN(rough[i])) continue;
    rough[i] = 0.25 * (fits[i] ?? 0) + (heads[i] ?? 0);
    first.push(i);
  }
  return first;
}

/** The `kept` of the highest weight, the highest first, of the same weight as they are read. */
function bestOf(all: readonly number[], rough: Float64Array, kept: number): readonly number[] {
  const least = Float64Array.from(all, (i) => rough[i] ?? 0).sort()[all.length - kept] ?? -Infinity;
  const best = all.filter((i) => (rough[i] ?? 0) >= least);
  return best.sort((a, b) => (rough[b] ?? 0) - (rough[a] ?? 0) || a - b).slice(0, kept);
}

interface Kept {
  readonly kept: readonly Draft[];
  readonly own: OwnDraft | undefined;
}

/** Of the same value elsewhere only what the kept ask for. */
function standingOf(pool: Pool, beside: readonly number[], { kept, own }: Kept): Standing {
  const { spans, keyNumbers, told, toldOfKey } = pool;
  const scores = new Set([
    ...(beside.length < spans.length ? [0] : []),
    ...(own === undefined ? [] : [own.told]),
  ]);
  for (const i of beside) {
    const [score, key] = [told[i] ?? 0, keyNumbers[i] ?? 0];
    scores.add(score);
    toldOfKey[key] = Math.max(toldOfKey[key] ?? 0, score);
  }
  const ordered = Float64Array.from(scores).sort().toReversed();
  const top = ordered[0] ?? 0;
  const rankOf = new Map(Array.from(ordered, (score, i) => [score, i]));
  const drafts = spans.length + Number(own !== undefined);
  return { top, tied: tiedAt(pool, beside, { top, own }), rankOf, same: sameOf(pool, kept, own), drafts };
}

/** At how many places the best label stands. */
function tiedAt(
  { spans, segments, told }: Pool,
  beside: readonly number[],
  { top, own }: { readonly top: number; readonly own: OwnDraft | undefined },
): number {
  const least = top - 1e-6;
  const isFirst = own !== undefined && own.told > least;
  const placeOf = ({ segment }: Span): number => segment.index;
  if (least < 0)
    return segments + Number(isFirst && !spans.some((span) => placeOf(span) === placeOf(own.span)));
  const first = beside.flatMap((i) => ((told[i] ?? 0) > least ? (spans[i]?.segment.index ?? []) : []));
  return new Set(isFirst ? [...first, placeOf(own.span)] : first).size;
}

function sameOf(
  { spans, numbers, keyNumbers, places, toldOfKey }: Pool,
  kept: readonly Draft[],
  own: OwnDraft | undefined,
): Standing['same'] {
  const known = (key: string) => {
    const number = numbers.get(key) ?? -1;
    return { places: places[number] ?? 0, told: toldOfKey[number] ?? 0 };
  };
  const same = new Map(kept.map(({ key }) => [key, known(key)]));
  if (own === undefined) return same;
  const { places: others, told } = known(own.key);
  const number = numbers.get(own.key);
  const isThere = ({ segment }: Span, i: number): boolean =>
    keyNumbers[i] === number && segment.index === own.span.segment.index;
  const at = others + Number(!spans.some(isThere));
  return same.set(own.key, { places: at, told: Math.max(told, own.told) });
}
