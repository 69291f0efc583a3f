/** The letters of a text without what parts them, and where each of them stands. */
export interface Letters {
  readonly text: string;
  /** Of each letter: the piece that it is in, and its place there. */
  readonly origins: readonly (readonly [piece: number, at: number])[];
  /** Letters before which a space or the end of a piece stands. */
  readonly gaps: ReadonlySet<number>;
}

/** Spaces and ends of lines differ between the one who wrote a text and the one who draws it: they are left out. */
export const lettersOf = (pieces: readonly string[]): Letters => {
  const found: string[] = [];
  const origins: (readonly [number, number])[] = [];
  const gaps = new Set<number>([0]);
  for (const [piece, text] of pieces.entries()) {
    gaps.add(found.length);
    for (let at = 0; at < text.length; at += 1) {
      const letter = text.charAt(at);
      if (letter.trim() === '') {
        gaps.add(found.length);
        continue;
      }
      found.push(letter);
      origins.push([piece, at]);
    }
  }
  gaps.add(found.length);
  return { text: found.join(''), origins, gaps };
};

const isWordy = (letter: string): boolean => /[\p{L}\p{N}]/u.test(letter);

/** Places looked at; a value that stands in more of them is told by none. */
const PLACES_MAX = 200;

/** Where words stand whole: `12` is not in `2012`. */
const placesOf = ({ text, gaps }: Letters, words: string): readonly number[] => {
  const wanted = words.replace(/\s+/g, '');
  const places: number[] = [];
  if (wanted === '') return places;
  const isWhole = (at: number): boolean =>
    (gaps.has(at) || !isWordy(text.charAt(at - 1)) || !isWordy(wanted.charAt(0))) &&
    (gaps.has(at + wanted.length) ||
      !isWordy(text.charAt(at + wanted.length)) ||
      !isWordy(wanted.charAt(wanted.length - 1)));
  for (
    let at = text.indexOf(wanted);
    at >= 0 && places.length < PLACES_MAX;
    at = text.indexOf(wanted, at + 1)
  )
    if (isWhole(at)) places.push(at);
  return places;
};

/** What is looked for: the words of a value, and words that stand near to it, the surest first. */
export interface Wanted {
  readonly words: string;
  readonly near: readonly string[];
}

/** Where the words of a value stand: of several places, the one nearest to what stands beside it. */
export const placeOf = (letters: Letters, { words, near }: Wanted): readonly [number, number] | undefined => {
  const places = placesOf(letters, words);
  const length = words.replace(/\s+/g, '').length;
  if (places.length === 0) return undefined;
  const anchor = near.map((one) => placesOf(letters, one)).find((found) => found.length === 1)?.[0];
  const distance = (at: number): number => (anchor === undefined ? at : Math.abs(at - anchor));
  const best = places.reduce((least, at) => (distance(at) < distance(least) ? at : least));
  return [best, best + length];
};
