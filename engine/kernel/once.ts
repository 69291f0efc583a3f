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
