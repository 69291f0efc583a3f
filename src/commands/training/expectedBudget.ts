import { shapeOf } from '../../../domain/kernel/json.ts';

/** Levels of objects and lists in what is expected: what a schema of the greatest depth describes. */
const DEPTH_MAX = 64;
/** Members and items of what is expected of one document. */
const VALUES_MAX = 20_000;

const TOO_DEEP = `is nested deeper than ${String(DEPTH_MAX)} levels`;
const TOO_MANY = `has more than ${String(VALUES_MAX)} values`;

/** With the example around it; and an empty list counts twice in a text. */
const TEXT_LIMITS = { depthMax: DEPTH_MAX + 1, valuesMax: 2 * VALUES_MAX + 2 };

/** The same of the JSON of an example, roughly, before it is parsed: half a million values take half a second. */
export const faultInExample = (text: string): string | undefined => {
  const shape = shapeOf(text, TEXT_LIMITS);
  if (shape === 'too_deep') return TOO_DEEP;
  return shape === 'too_many_values' ? TOO_MANY : undefined;
};

interface Place {
  readonly value: object;
  readonly depth: number;
}

/**
 * Why a value is more than a document can be expected to say; undefined: it is not. Nothing is called once a
 * level, and nothing is looked at beyond the limits.
 */
export const faultInExpected = (expected: object): string | undefined => {
  const open: Place[] = [{ value: expected, depth: 1 }];
  let values = 0;
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    if (place.depth > DEPTH_MAX) return TOO_DEEP;
    const { depth } = place;
    for (const value of Object.values(place.value) as readonly unknown[]) {
      values += 1;
      if (values > VALUES_MAX) return TOO_MANY;
      if (typeof value === 'object' && value !== null) open.push({ value, depth: depth + 1 });
    }
  }
  return undefined;
};
