import { createHash } from 'node:crypto';

/** A set of texts in 16 bytes each: UUIDs as they are, all else by the first half of its SHA-256. */
export interface CompactSet {
  /** True when the text was not in it yet. */
  readonly add: (text: string) => boolean;
  readonly has: (text: string) => boolean;
}

type Slots = Uint32Array<ArrayBuffer>;

const WORDS = 4;
const FIRST_SLOTS = 1024;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const wordsOf = (text: string): Slots => {
  const hex = UUID.test(text)
    ? text.replaceAll('-', '')
    : createHash('sha256').update(text).digest('hex').slice(0, 32);
  const words = new Uint32Array(WORDS);
  for (let at = 0; at < WORDS; at += 1) words[at] = Number.parseInt(hex.slice(8 * at, 8 * at + 8), 16);
  // A slot of zeros is an empty one.
  if (words.every((word) => word === 0)) words[0] = 1;
  return words;
};

/** Index of the slot that has the words, or of the empty one where they belong. */
const slotOf = (slots: Slots, words: Slots): number => {
  const count = slots.length / WORDS;
  for (let slot = (words[3] ?? 0) % count; ; slot = (slot + 1) % count) {
    const at = slot * WORDS;
    const here = slots.subarray(at, at + WORDS);
    if (here.every((word) => word === 0) || here.every((word, i) => word === words[i])) return at;
  }
};

const grown = (slots: Slots): Slots => {
  const larger = new Uint32Array(slots.length * 2);
  for (let at = 0; at < slots.length; at += WORDS) {
    const words = slots.slice(at, at + WORDS);
    if (words.some((word) => word !== 0)) larger.set(words, slotOf(larger, words));
  }
  return larger;
};

/** Open addressing, at most two thirds full: a million members take some 32 MB. */
export const compactSet = (): CompactSet => {
  let slots: Slots = new Uint32Array(FIRST_SLOTS * WORDS);
  let size = 0;
  const isEmpty = (at: number) => slots.subarray(at, at + WORDS).every((word) => word === 0);
  return {
    has: (text) => !isEmpty(slotOf(slots, wordsOf(text))),
    add: (text) => {
      if (3 * size * WORDS >= 2 * slots.length) slots = grown(slots);
      const words = wordsOf(text);
      const at = slotOf(slots, words);
      if (!isEmpty(at)) return false;
      slots.set(words, at);
      size += 1;
      return true;
    },
  };
};
