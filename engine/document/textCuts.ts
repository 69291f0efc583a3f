const SENTENCE_END = /[.!?…]["'”’»)\]]{0,3}\s+|[。！？]["'”’」』）]{0,3}/gu;
const WORD_END = /\s+/gu;
/** UTF-16 units behind a cut that are looked at for what is one sign. */
const SIGN_UNITS = 64;

/** Where a text may be cut: offsets in UTF-16 units. */
export interface Stretch {
  /** Where the part began that is to end. */
  readonly from: number;
  readonly least: number;
  readonly end: number;
}

/** The end of the last sentence in a stretch, else of the last word, else of the last sign. */
export function boundaryIn(text: string, { from, least, end }: Stretch): number {
  const stretch = text.slice(least, end);
  const ends = lastEnd(stretch, SENTENCE_END) ?? lastEnd(stretch, WORD_END);
  return ends === undefined ? signBefore(text, from, end) : least + ends;
}

function lastEnd(text: string, pattern: RegExp): number | undefined {
  let end: number | undefined;
  for (const { 0: found, index } of text.matchAll(pattern)) end = index + found.length;
  return end;
}

const signs = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** Where the sign begins that an offset lies in: letters with their accents, flags and families are one. */
function signBefore(text: string, from: number, offset: number): number {
  const page = text.slice(from, offset + SIGN_UNITS);
  const index = signs.segment(page).containing(offset - from)?.index ?? 0;
  return index === 0 ? offset : from + index;
}
