import { createHash } from 'node:crypto';

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

/** Mixes all words, so that members that count up do not stand in one long row (Knuth's multiplicative hash). */
const placeOf = (words: Slots): number => {
  let mixed = 0;
  for (const word of words) mixed = Math.imul(mixed ^ word, 0x9e3779b1) ^ (mixed >>> 15);
  return (mixed ^ (mixed >>> 13)) >>> 0;
};

const isAt = (slots: Slots, at: number, words: Slots): boolean =>
  slots[at] === words[0] &&
  slots[at + 1] === words[1] &&
  slots[at + 2] === words[2] &&
  slots[at + 3] === words[3];

const EMPTY: Slots = new Uint32Array(WORDS);

/** Index of the slot that has the words, or of the empty one where they belong. */
const slotOf = (slots: Slots, words: Slots): number => {
  const count = slots.length / WORDS;
  for (let slot = placeOf(words) % count; ; slot = (slot + 1) % count) {
    const at = slot * WORDS;
    if (isAt(slots, at, EMPTY) || isAt(slots, at, words)) return at;
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

export type CompactSet = ReturnType<typeof compactSet>;

/**
 * A set of texts in 16 bytes each: UUIDs as they are, all else by the first half of its SHA-256. Open
 * addressing, at most two thirds full: a million members take some 32 MB.
 */
export const compactSet = () => {
  let slots: Slots = new Uint32Array(FIRST_SLOTS * WORDS);
  let size = 0;
  return {
    has: (text: string): boolean => !isAt(slots, slotOf(slots, wordsOf(text)), EMPTY),
    /** True when the text was not in it yet. */
    add: (text: string): boolean => {
      if (3 * size * WORDS >= 2 * slots.length) slots = grown(slots);
      const words = wordsOf(text);
      const at = slotOf(slots, words);
      if (!isAt(slots, at, EMPTY)) return false;
      slots.set(words, at);
      size += 1;
      return true;
    },
  };
};
