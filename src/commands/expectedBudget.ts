/** Levels of objects and lists in what is expected: what a schema of the greatest depth describes. */
const DEPTH_MAX = 64;
/** Members and items of what is expected of one document. */
const VALUES_MAX = 20_000;

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
    if (place.depth > DEPTH_MAX) return `is nested deeper than ${String(DEPTH_MAX)} levels`;
    const { depth } = place;
    for (const value of Object.values(place.value) as readonly unknown[]) {
      values += 1;
      if (values > VALUES_MAX) return `has more than ${String(VALUES_MAX)} values`;
      if (typeof value === 'object' && value !== null) open.push({ value, depth: depth + 1 });
    }
  }
  return undefined;
};
