/** A seeded sequence of 0 ≤ x < 1 (mulberry32): the same seed gives the same sequence everywhere. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The same items in an order that the sequence decides (Fisher-Yates). */
export function shuffled<T>(items: readonly T[], next: () => number): readonly T[] {
  const left = [...items];
  const taken: T[] = [];
  while (left.length > 0) taken.push(...left.splice(Math.floor(next() * left.length), 1));
  return taken;
}
