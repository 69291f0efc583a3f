/** Boosted trees as one list of nodes: the children of a node are neighbours, the left one first. */
export interface Trees {
  readonly base: number;
  /** Where each tree begins. */
  readonly roots: readonly number[];
  /** The feature that a node asks for; -1: a leaf. */
  readonly features: readonly number[];
  /** What goes left: a feature up to this; of a leaf its value. */
  readonly values: readonly number[];
  readonly lefts: readonly number[];
}

/** The sum of a row's leaves: the logarithm of its odds. */
export type Scored = (row: Float32Array) => number;

export function scoring({ base, roots, features, values, lefts }: Trees): Scored {
  const asked = Int16Array.from(features);
  const bounds = Float32Array.from(values);
  const next = Int32Array.from(lefts);
  return (row) => {
    let sum = base;
    for (const root of roots) {
      let node = root;
      for (let feature = asked[node] ?? -1; feature >= 0; feature = asked[node] ?? -1)
        node = (next[node] ?? 0) + ((row[feature] ?? 0) <= (bounds[node] ?? 0) ? 0 : 1);
      sum += bounds[node] ?? 0;
    }
    return sum;
  };
}

/** A chance, 0..1, from the logarithm of its odds. */
export const logistic = (odds: number): number => 1 / (1 + Math.exp(-odds));
