/** Two words a key. */
type Keys = Uint32Array<ArrayBuffer>;

const FIRST_WORDS = 4096;
/** The two bases of FNV-1a that the words of a key begin with, and its prime. */
const [BASE, OTHER_BASE, PRIME] = [0x811c9dc5, 0x9747b28c, 0x01000193] as const;

/** What a share met by name, 8 bytes each: equal names have equal keys, and different ones nearly never. */
export interface KeyBag {
  readonly add: (name: string) => void;
  readonly keys: () => Keys;
}

export const keyBag = (): KeyBag => {
  let words: Keys = new Uint32Array(FIRST_WORDS);
  let used = 0;
  return {
    add: (name) => {
      if (used === words.length) {
        const larger = new Uint32Array(2 * words.length);
        larger.set(words);
        words = larger;
      }
      let [first, second] = [BASE, OTHER_BASE] as [number, number];
      for (let at = 0; at < name.length; at += 1) {
        const code = name.charCodeAt(at);
        first = Math.imul(first ^ code, PRIME);
        second = Math.imul(second ^ code, PRIME) ^ (first >>> 13);
      }
      words[used] = first;
      words[used + 1] = second;
      used += 2;
    },
    keys: () => words.slice(0, used),
  };
};

/** A set of keys. Open addressing, at most half full; a slot of zeros is an empty one. */
const keySet = (most: number) => {
  const slots = new Uint32Array(2 * 2 ** Math.ceil(Math.log2(most + 2)));
  const mask = slots.length / 2 - 1;
  const isEmpty = (slot: number): boolean => slots[slot] === 0 && slots[slot + 1] === 0;
  const isAt = (slot: number, first: number, second: number): boolean =>
    slots[slot] === first && slots[slot + 1] === second;
  /** Index of the slot that has the key, or of the empty one where it belongs. */
  const slotOf = (first: number, second: number): number => {
    let slot = 2 * ((first ^ (second >>> 7)) & mask);
    while (!isAt(slot, first, second) && !isEmpty(slot)) slot = 2 * ((slot / 2 + 1) & mask);
    return slot;
  };
  return {
    has: (first: number, second: number): boolean => !isEmpty(slotOf(first, second)),
    add: (first: number, second: number): void => {
      const slot = slotOf(first, second);
      slots[slot] = first;
      slots[slot + 1] = second;
    },
  };
};

/** Calls `see` with the words of each key. One of zeros, which would pass for an empty slot, has another one's. */
const each = (bag: Keys, see: (first: number, second: number) => void): void => {
  for (let at = 0; at < bag.length; at += 2) {
    const [first, second] = [bag[at] ?? 0, bag[at + 1] ?? 0];
    see(first, first === 0 && second === 0 ? 1 : second);
  }
};

/** Whether no key is in two of the bags. */
export const areApart = (bags: readonly Keys[]): boolean => {
  const seen = keySet(bags.reduce((sum, { length }) => sum + length, 0));
  let apart = true;
  for (const bag of bags) {
    each(bag, (first, second) => {
      if (seen.has(first, second)) apart = false;
    });
    each(bag, seen.add);
  }
  return apart;
};
