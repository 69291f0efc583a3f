import { heightOf, middleY, type PageContent, type PlacedWord } from './content.ts';

/** A note stands in the lower part of a page, at most so large beside the text that refers to it. */
const SIZE_MAX = 1.02;
/** Of a line's height: words nearer to the left of another stand before it. */
const BEFORE = 40;

/**
 * Pages whose words know their notes. A raised number is the mark of a note where another one like it begins a line
 * further down on the page; then both leave the text and become labels. Other raised numbers, as exponents, stay.
 */
export function withNotes<C extends PageContent>(pages: readonly C[]): readonly C[] {
  const used = new Set<string>();
  return pages.map((page, index) => {
    const found = notesOn(page.words);
    if (found.length === 0) return page;
    const changed = new Map<PlacedWord, PlacedWord | null>();
    for (const { number, mark, opening } of found) {
      const label = used.has(number) ? `${number}-${index + 1}` : number;
      used.add(label);
      changeMark(page.words, { mark, label, changed });
      changeOpening(page.words, { opening, label, changed });
    }
    const words = page.words.flatMap((word) => {
      const other = changed.get(word);
      return other === undefined ? [word] : other === null ? [] : [other];
    });
    return { ...page, words };
  });
}

interface Found {
  readonly number: string;
  /** Indexes of the words with the mark and with the number that begins the note. */
  readonly mark: number;
  readonly opening: number;
}

/** Marks with their notes, each number once on a page: where it is used again, nothing tells which is meant. */
function notesOn(words: readonly PlacedWord[]): readonly Found[] {
  if (words.filter((word) => word.raised !== undefined).length < 2) return [];
  const raised = words.flatMap((word, at) =>
    word.raised === undefined
      ? []
      : [{ at, word, number: word.text.slice(word.raised.from, word.raised.to) }],
  );
  const starts = lineStarts(words);
  const byNumber = new Map<string, { marks: number[]; openings: number[] }>();
  for (const { at, word, number } of raised) {
    const known = byNumber.get(number) ?? { marks: [], openings: [] };
    byNumber.set(number, known);
    (word.raised?.from === 0 && starts.has(word) ? known.openings : known.marks).push(at);
  }
  return [...byNumber].flatMap(([number, { marks, openings }]): readonly Found[] => {
    const [mark, opening] = [marks[0], openings[0]];
    if (mark === undefined || opening === undefined || openings.length > 1) return [];
    return isBelow(words[opening], words[mark]) ? [{ number, mark, opening }] : [];
  });
}

const isBelow = (note: PlacedWord | undefined, mark: PlacedWord | undefined): boolean =>
  note !== undefined && mark !== undefined && note.box[1] > mark.box[3] && note.size <= SIZE_MAX * mark.size;

/** Points; words are looked for in bands of this height. */
const BAND = 8;

/** The words that none stands close before. */
function lineStarts(words: readonly PlacedWord[]): ReadonlySet<PlacedWord> {
  const bands = new Map<number, PlacedWord[]>();
  for (const word of words) {
    const band = Math.floor(middleY(word.box) / BAND);
    const known = bands.get(band);
    if (known === undefined) bands.set(band, [word]);
    else known.push(word);
  }
  for (const band of bands.values()) band.sort((a, b) => a.box[0] - b.box[0]);
  const hasBefore = (word: PlacedWord): boolean => {
    const middle = Math.floor(middleY(word.box) / BAND);
    return [middle - 1, middle, middle + 1].some((band) => {
      const before = lastBefore(bands.get(band) ?? [], word.box[0]);
      if (before === undefined || word.box[0] - before.box[2] > BEFORE) return false;
      return Math.abs(middleY(before.box) - middleY(word.box)) < 0.6 * heightOf(before.box);
    });
  };
  return new Set(words.filter((word) => word.raised?.from === 0 && !hasBefore(word)));
}

/** The last that begins before x, of words from left to right. */
function lastBefore(words: readonly PlacedWord[], x: number): PlacedWord | undefined {
  let [from, to] = [0, words.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((words[middle]?.box[0] ?? Infinity) < x) from = middle + 1;
    else to = middle;
  }
  return words[from - 1];
}

interface Change {
  readonly label: string;
  readonly changed: Map<PlacedWord, PlacedWord | null>;
}

const without = ({ text, raised }: PlacedWord): string =>
  raised === undefined ? text : text.slice(0, raised.from) + text.slice(raised.to);

/** The mark goes from its word; a mark that is a word by itself belongs to the one before it. */
function changeMark(
  words: readonly PlacedWord[],
  { mark, label, changed }: Change & { readonly mark: number },
): void {
  const [word, before] = [words[mark], words[mark - 1]];
  if (word === undefined) return;
  const text = without(word);
  if (text !== '') changed.set(word, { ...word, text, note: label });
  else if (before !== undefined) {
    changed.set(word, null);
    changed.set(before, { ...(changed.get(before) ?? before), note: label });
  }
}

function changeOpening(
  words: readonly PlacedWord[],
  { opening, label, changed }: Change & { readonly opening: number },
): void {
  const [word, after] = [words[opening], words[opening + 1]];
  if (word === undefined) return;
  const text = without(word);
  if (text !== '') changed.set(word, { ...word, text, opensNote: label });
  else if (after !== undefined) {
    changed.set(word, null);
    changed.set(after, { ...(changed.get(after) ?? after), opensNote: label });
  }
}
