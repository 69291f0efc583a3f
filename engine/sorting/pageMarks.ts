import type { Line } from '../document/document.ts';
import { lexicon } from '../extraction/words/lexicon.ts';

/** The number that a page says of itself. */
export interface PageMark {
  readonly number: number;
  /** How many there are, where it says so. */
  readonly of: number | null;
  /** Said by a word or a total, not by a number alone. */
  readonly isSaid: boolean;
  readonly line: Line;
}

const PAGE = lexicon.parts.page_words.pattern;
const OF = lexicon.parts.page_totals.pattern;
const NUMBER = String.raw`(\d{1,4})`;
/** Of lines whose spaces are single ones: several unlimited gaps in a row would be tried in all their divisions. */
const named = new RegExp(
  String.raw`(?<!\p{L})${PAGE} ?(?:nr\.?|no\.?)? ?:? ?${NUMBER}(?: ?(?:${OF}) ?${NUMBER})?(?![\d.,]*\d)`,
  'iu',
);
const counted = new RegExp(String.raw`(?:^| )${NUMBER} ?(?:${OF}) ?${NUMBER}$`, 'iu');
const alone = /^[ \-–—|]*(\d{1,3})[ \-–—|]*$/u;

/** More pages than that are no total of a document. */
const TOTAL_MAX = 2000;

function markIn(line: Line): PageMark | undefined {
  const text = line.text.replace(/\s+/g, ' ').trim();
  const said = named.exec(text) ?? counted.exec(text);
  const found = said ?? alone.exec(text);
  if (found === null) return undefined;
  const number = Number(found[1]);
  const of = found[2] === undefined ? null : Number(found[2]);
  if (number === 0 || (of !== null && (of < number || of > TOTAL_MAX))) return undefined;
  return { number, of, isSaid: said !== null, line };
}

/** What the lines at the end and the top of a page say of its number: a total first, then a word, then a number. */
export function pageMarkOf(lines: readonly Line[]): PageMark | undefined {
  const marks = lines.flatMap((line) => markIn(line) ?? []);
  return marks.find(({ of }) => of !== null) ?? marks.find(({ isSaid }) => isSaid) ?? marks[0];
}
