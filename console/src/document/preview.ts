import type { ValueRow } from './values.ts';

/** Formats that the browser reads by itself, at no cost; others are shown once the service converted them. */
export type PreviewKind = 'markdown' | 'page' | 'word' | 'sheets' | 'rows' | 'mail';

const BY_ENDING: Readonly<Record<string, PreviewKind>> = {
  md: 'markdown',
  markdown: 'markdown',
  htm: 'page',
  html: 'page',
  docx: 'word',
  docm: 'word',
  xlsx: 'sheets',
  xlsm: 'sheets',
  xls: 'sheets',
  ods: 'sheets',
  csv: 'rows',
  tsv: 'rows',
  eml: 'mail',
};

const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const SHEETS = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

const BY_TYPE: Readonly<Record<string, PreviewKind>> = {
  'text/markdown': 'markdown',
  'text/html': 'page',
  [WORD]: 'word',
  [SHEETS]: 'sheets',
  'text/csv': 'rows',
  'text/tab-separated-values': 'rows',
  'message/rfc822': 'mail',
};

/** How a file is read here; undefined: not at all. */
export const previewKind = ({ name, type }: Pick<File, 'name' | 'type'>): PreviewKind | undefined => {
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  return (Object.hasOwn(BY_ENDING, ending) ? BY_ENDING[ending] : undefined) ?? BY_TYPE[type];
};

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

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));

/** What of a document is looked for when a value is chosen: its words, near to those of the values beside it. */
export const wantedOf = (rows: readonly ValueRow[], chosen: string): Wanted | undefined => {
  const row = rows.find(({ path }) => path === chosen);
  if (row?.citation === undefined) return undefined;
  const beside = rows
    .filter(({ path }) => path !== chosen && parentOf(path) === parentOf(chosen))
    .flatMap(({ citation }) => citation?.text ?? [])
    .sort((one, other) => other.length - one.length);
  // of a field by itself, its name as the document may write it; of one of a list, what else is in its line
  const isInList = /\/\d+$/.test(parentOf(chosen));
  const name = row.name.replaceAll('_', ' ');
  const label = name.charAt(0).toUpperCase() + name.slice(1);
  return { words: row.citation.text, near: isInList ? beside : [label, name] };
};
