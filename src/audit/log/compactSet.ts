import { sha256 } from '../../../domain/kernel/chain.ts';

type Slots = Uint32Array<ArrayBuffer>;

const WORDS = 4;
const FIRST_SLOTS = 1024;

const EMPTY: Slots = new Uint32Array(WORDS);

/** The words of the text that is looked for: one array for all, as there are many texts and one at a time. */
const sought: Slots = new Uint32Array(WORDS);

const UUID_LENGTH = 36;
const [HYPHEN, ZERO, NINE, A, F] = [0x2d, 0x30, 0x39, 0x61, 0x66] as const;

/** Where the hyphens of a UUID are. */
const isHyphenAt = (at: number): boolean => at === 8 || at === 13 || at === 18 || at === 23;

/** What a hex digit in lower case says; −1 for another character. */
const digitOf = (code: number): number => {
  if (code >= ZERO && code <= NINE) return code - ZERO;
  return code >= A && code <= F ? code - A + 10 : -1;
};

/** Puts the words of a UUID where they are sought; false when the text is none. */
const isUuid = (text: string): boolean => {
  if (text.length !== UUID_LENGTH) return false;
  let [word, digits] = [0, 0];
  for (let at = 0; at < UUID_LENGTH; at += 1) {
    const code = text.charCodeAt(at);
    if (isHyphenAt(at)) {
      if (code !== HYPHEN) return false;
      continue;
    }
    const digit = digitOf(code);
    if (digit < 0) return false;
    word = (word << 4) | digit;
    digits += 1;
    if (digits % 8 === 0) sought[digits / 8 - 1] = word;
  }
  return true;
};

const wordsOf = (text: string): Slots => {
  if (!isUuid(text)) {
    const hex = sha256(text);
    for (let at = 0; at < WORDS; at += 1) sought[at] = Number.parseInt(hex.slice(8 * at, 8 * at + 8), 16);
  }
  // A slot of zeros is an empty one.
  if (isAt(sought, 0, EMPTY)) sought[0] = 1;
  return sought;
};

/** Mixes all words, so that members that count up do not stand in one long row (Knuth's multiplicative hash). */
const placeOfKey = (words: Slots): number => {
  let mixed = 0;
  for (let at = 0; at < WORDS; at += 1)
    mixed = Math.imul(mixed ^ (words[at] ?? 0), 0x9e3779b1) ^ (mixed >>> 15);
  return (mixed ^ (mixed >>> 13)) >>> 0;
};

const isAt = (slots: Slots, at: number, words: Slots): boolean =>
  slots[at] === words[0] &&
  slots[at + 1] === words[1] &&
  slots[at + 2] === words[2] &&
  slots[at + 3] === words[3];

/** Index of the slot that has the words, or of the empty one where they belong. */
const slotOf = (slots: Slots, words: Slots): number => {
  const count = slots.length / WORDS;
  for (let slot = placeOfKey(words) % count; ; slot = (slot + 1) % count) {
    const at = slot * WORDS;
    if (isAt(slots, at, EMPTY) || isAt(slots, at, words)) return at;
  }
};

const grown = (slots: Slots): Slots => {
  const larger = new Uint32Array(slots.length * 2);
  for (let at = 0; at < slots.length; at += WORDS) {
    const words = slots.subarray(at, at + WORDS);
    if (!isAt(words, 0, EMPTY)) larger.set(words, slotOf(larger, words));
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
    has: (text: string): boolean => size > 0 && !isAt(slots, slotOf(slots, wordsOf(text)), EMPTY),
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
