import { pointedName, type Json } from '../../engine/kernel/json.ts';
import type { Answered } from './corpus.ts';

/** What a value looks like, whatever was asked for. */
const VALUE_SHAPES = ['number', 'date', 'code', 'words', 'text'] as const;
type ValueShape = (typeof VALUE_SHAPES)[number];

const DATE = /^\d{4}-\d{2}-\d{2}(?:T|$)/u;
/** Longer than names are. */
const TEXT_FROM = 50;

/** The shape of a value; yes and no are words. */
function valueShape(value: Json): ValueShape {
  if (typeof value === 'number') return 'number';
  if (typeof value !== 'string') return 'words';
  if (DATE.test(value)) return 'date';
  if (value.length >= TEXT_FROM) return 'text';
  return /\d/.test(value) && !/\p{L}{4}/u.test(value) ? 'code' : 'words';
}

/** A value that was answered, with what it looks like and where it comes from. */
export interface Told extends Answered {
  readonly confidence: number;
  readonly shape: ValueShape;
  readonly document: string;
  /** Documents of one kind are left out together. */
  readonly kind: string;
}

/** What stands at a path; undefined: nothing. */
export const at = (value: Json | undefined, path: string): Json | undefined =>
  path
    .split('/')
    .slice(1)
    .map(pointedName)
    .reduce<Json | undefined>(
      (part, name) =>
        typeof part === 'object' && part !== null
          ? (part as Readonly<Record<string, Json>>)[name]
          : undefined,
      value,
    );

/** The answered values of a document that say how sure they are. */
export const toldOf = (
  values: readonly Answered[],
  answer: Json,
  from: Pick<Told, 'document' | 'kind'>,
): readonly Told[] =>
  values.flatMap((one) =>
    one.confidence === undefined
      ? []
      : [{ ...one, ...from, confidence: one.confidence, shape: valueShape(at(answer, one.path) ?? null) }],
  );

/** Confidence of values that are answered at all, in bins. */
const LEVELS = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1.01] as const;
/** Values of one document stand or fall together: of many each weighs less. */
const weightIn = (values: readonly Told[]): ((one: Told) => number) => {
  const counts = new Map<string, number>();
  for (const { document } of values) counts.set(document, (counts.get(document) ?? 0) + 1);
  return ({ document }) => 1 / Math.sqrt(counts.get(document) ?? 1);
};

/** So much weight has what was said before anything was counted. */
const PRIOR = 2;

interface Level {
  readonly said: number;
  readonly share: number;
  readonly weight: number;
}

/** Levels whose shares fall are drawn together: pool adjacent violators. */
function rising(levels: readonly Level[]): readonly Level[] {
  const pools: Level[][] = [];
  const shareOf = (pool: readonly Level[]): number =>
    pool.reduce((sum, one) => sum + one.share * one.weight, 0) /
    pool.reduce((sum, one) => sum + one.weight, 0);
  for (const level of levels) {
    pools.push([level]);
    for (let last = pools.at(-1), before = pools.at(-2); last !== undefined && before !== undefined;) {
      if (shareOf(before) <= shareOf(last)) break;
      pools.splice(-2, 2, [...before, ...last]);
      [last, before] = [pools.at(-1), pools.at(-2)];
    }
  }
  return pools.flatMap((pool) => pool.map((one) => ({ ...one, share: shareOf(pool) })));
}

/** What is said, and the share that is right: knots of a rising line. */
export type Curve = readonly (readonly [said: number, share: number])[];

/** The curve of some values; said is drawn to counted as far as there are few. */
export function fitted(values: readonly Told[]): Curve {
  const weigh = weightIn(values);
  const levels = LEVELS.slice(0, -1).flatMap((from, i): readonly Level[] => {
    const within = values.filter(({ confidence }) => confidence >= from && confidence < (LEVELS[i + 1] ?? 2));
    const weight = within.reduce((sum, one) => sum + weigh(one), 0);
    const right = within.reduce((sum, one) => sum + (one.right ? weigh(one) : 0), 0);
    const said =
      weight === 0
        ? (from + Math.min(1, LEVELS[i + 1] ?? 1)) / 2
        : within.reduce((sum, one) => sum + weigh(one) * one.confidence, 0) / weight;
    return [{ said, share: (right + PRIOR * said) / (weight + PRIOR), weight: weight + PRIOR }];
  });
  return rising(levels).map(({ said, share }) => [said, share]);
}

/** Between two knots in proportion; beyond them as at the last. */
export function onCurve(curve: Curve, said: number): number {
  const above = curve.findIndex(([level]) => said <= level);
  const [upper, lower] = [curve[above] ?? curve.at(-1), curve[above - 1]];
  if (upper === undefined) return said;
  if (lower === undefined || above < 0) return upper[1];
  return lower[1] + ((upper[1] - lower[1]) * (said - lower[0])) / (upper[0] - lower[0]);
}

const SURE = 0.9;
const share = (values: readonly Told[]): string =>
  `${values.filter(({ right }) => right).length}/${values.length}`;
const mean = (values: readonly number[]): string =>
  values.length === 0 ? '-' : (values.reduce((sum, one) => sum + one, 0) / values.length).toFixed(2);

type Row = Readonly<Record<string, string>>;

/**
 * How honest the confidence of each shape of value is, and what it would be by a curve fitted to all other kinds; the
 * last column is the curve of all.
 */
export const calibrationRows = (values: readonly Told[]): readonly Row[] =>
  [true, false].flatMap((single) =>
    VALUE_SHAPES.map((shape) =>
      rowOf(
        values.filter((one) => one.single === single && one.shape === shape),
        {
          values: single ? 'single' : 'listed',
          shape,
        },
      ),
    ),
  );

function rowOf(values: readonly Told[], name: Row): Row {
  const kinds = [...new Set(values.map(({ kind }) => kind))];
  const left = kinds.flatMap((kind) => {
    const curve = fitted(values.filter((one) => one.kind !== kind));
    return values
      .filter((one) => one.kind === kind)
      .map((one) => ({ ...one, confidence: onCurve(curve, one.confidence) }));
  });
  const sure = (among: readonly Told[]): string =>
    share(among.filter(({ confidence }) => confidence >= SURE));
  return {
    ...name,
    kinds: String(kinds.length),
    right: share(values),
    said: mean(values.map(({ confidence }) => confidence)),
    'right at >= .9': sure(values),
    'said, kind left out': mean(left.map(({ confidence }) => confidence)),
    'right at >= .9, kind left out': sure(left),
    curve: fitted(values)
      .map(([said, right]) => `${said.toFixed(2)}: ${right.toFixed(2)}`)
      .join(', '),
  };
}
