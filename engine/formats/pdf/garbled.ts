import type { InkedWord } from './pdfWords.ts';

/** Of a text layer's characters this share may be unreadable. */
const ODD_MAX = 0.15;
/** Fewer letters and digits than this share are no text of people. */
const LETTERS_MIN = 0.5;
/** Shorter texts are too little to tell by. */
const CHARACTERS_MIN = 8;
/** Of the words, this share may be such as no language has. */
const UNSPEAKABLE_MAX = 0.5;

/**
 * Whether a page's letters mean nothing, for its fonts do not say which they are: private or unmapped
 * signs, hardly any letters, or words that no language has.
 */
export function isGarbled(words: readonly Pick<InkedWord, 'text'>[]): boolean {
  const text = words.map((word) => word.text).join('');
  if (share(text, /[\ufffd\ue000-\uf8ff\u0000-\u001f]/gu) > ODD_MAX) return true;
  // Lines of one sign lead the eye or are to be filled in: they say nothing of the letters.
  const said = words
    .filter((word) => !/^(.)\1*$/u.test(word.text))
    .map((word) => word.text.replace(/([._-])\1+/g, '$1'));
  const plain = said.join('');
  if (plain.length < CHARACTERS_MIN) return false;
  return share(plain, /[\p{L}\p{M}\p{N}]/gu) < LETTERS_MIN || isUnspeakable(said);
}

const share = (text: string, of: RegExp): number => (text.match(of)?.length ?? 0) / Math.max(1, text.length);

/** Three times the same letter, as no European language writes. Of other scripts nothing is known. */
function isUnspeakable(texts: readonly string[]): boolean {
  const words = texts.flatMap((text) => text.match(/[a-z]{3,}/gi) ?? []);
  const odd = words.filter((word) => /([a-z])\1\1/i.test(word) && !/^(?:www|iii|xxx)/i.test(word));
  return words.length > 1 && odd.length > UNSPEAKABLE_MAX * words.length;
}
