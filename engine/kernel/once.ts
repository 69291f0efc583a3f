/** Computes something for a thing once, and remembers it for as long as the thing is held. */
export function once<A extends object, Value>(compute: (a: A) => Value): (a: A) => Value {
  const known = new WeakMap<A, { readonly value: Value }>();
  return (a) => {
    const earlier = known.get(a);
    if (earlier !== undefined) return earlier.value;
    const value = compute(a);
    known.set(a, { value });
    return value;
  };
}

/** The value of a key, computed when it is asked for first. */
export function remembered<K, V>(known: Map<K, V>, key: K, compute: () => V): V {
  const earlier = known.get(key);
  if (earlier !== undefined || known.has(key)) return earlier as V;
  const value = compute();
  known.set(key, value);
  return value;
}

/** Values by their keys, each computed when it is asked for first; beyond `most` of them all are forgotten. */
export function memoryOf<V>(most: number): (key: string, compute: (key: string) => V) => V {
  const known = new Map<string, V>();
  return (key, compute) => {
    const earlier = known.get(key);
    if (earlier !== undefined) return earlier;
    if (known.size >= most && !known.has(key)) known.clear();
    return remembered(known, key, () => compute(key));
  };
}
