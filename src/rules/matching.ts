import { distance } from 'fastest-levenshtein';

/*
 * A column of a table, so that a value finds the text in it that is most like it. It takes as long for the ten
 * thousandth value as for the first: trigrams of words say which few texts are compared letter by letter, and how
 * many places of theirs are looked at is bounded. Nothing depends on time or chance: one table has one answer.
 */

/** Texts longer than that are compared by their beginning. */
const COMPARED_MAX = 200;
/** No cell is longer. */
const VALUE_MAX = 1_000;
/** Places of trigrams that are looked at for one value: the rarest come first. */
const PLACES_MAX = 20_000;
/** Texts that are compared letter by letter for one value. */
const CANDIDATES_MAX = 50;
const DECIMALS = 4;

/** Letters and digits count, whatever their case and accents, and where words end. */
export const plainText = (text: string): string =>
  text
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

/** Of each word with a mark before and behind it: order of words does not count. */
const trigramsOf = (plain: string): ReadonlySet<string> => {
  const found = new Set<string>();
  for (const word of plain.slice(0, COMPARED_MAX).split(' ')) {
    const marked = `  ${word} `;
    for (let at = 0; at + 3 <= marked.length; at += 1) found.add(marked.slice(at, at + 3));
  }
  return found;
};

const sortedWords = (plain: string): string => plain.split(' ').sort().join(' ');

const ratio = (own: string, other: string): number =>
  1 - distance(own, other) / Math.max(own.length, other.length, 1);

/** How alike two plain texts are, 0 to 1: the share of letters that stay, in the order of the words or without it. */
export const likeness = (own: string, other: string): number => {
  const [a, b] = [own.slice(0, COMPARED_MAX), other.slice(0, COMPARED_MAX)];
  const best = Math.max(ratio(a, b), ratio(sortedWords(a), sortedWords(b)));
  return Number(best.toFixed(DECIMALS));
};

/** The row that says a value best. */
export interface Match {
  /** From 1. */
  readonly row: number;
  /** 1: the same but for case, accents and punctuation; only the same text has it. */
  readonly score: number;
  /** How many rows have that same text: the first of them is given. */
  readonly equal_rows: number;
}

/** One plain text of a column, with the first of the rows that have it. */
interface Entry {
  readonly plain: string;
  readonly row: number;
  readonly trigrams: number;
  rows: number;
}

/** A text that only is like another never counts as the same. */
const ALMOST = 1 - 10 ** -DECIMALS;

export interface ColumnIndex {
  /** undefined: nothing in the column has anything in common with the value. */
  readonly find: (value: string) => Match | undefined;
}

/** The share of trigrams that an entry has in common with a text of so many. */
const shareOf = (
  entry: Entry | undefined,
  { shared = 0, of }: { readonly shared: number | undefined; readonly of: number },
): number => shared / (of + (entry?.trigrams ?? 0));

/** Entries that share trigrams with a text, those that share most first; of two alike the first in the column. */
const candidatesFor = (
  trigrams: ReadonlySet<string>,
  { entries, places, shared }: Pick<Indexed, 'entries' | 'places' | 'shared'>,
): readonly Entry[] => {
  const lists = [...trigrams]
    .map((trigram) => places.get(trigram) ?? [])
    .sort((a, b) => a.length - b.length || (a[0] ?? 0) - (b[0] ?? 0));
  const touched: number[] = [];
  let left = PLACES_MAX;
  for (const list of lists) {
    for (const at of list.length > left ? list.slice(0, left) : list) {
      if (shared[at] === 0) touched.push(at);
      shared[at] = (shared[at] ?? 0) + 1;
    }
    left -= Math.min(left, list.length);
    if (left === 0) break;
  }
  const best = bestOf(CANDIDATES_MAX);
  for (const at of touched) best.offer(at, shareOf(entries[at], { shared: shared[at], of: trigrams.size }));
  for (const at of touched) shared[at] = 0;
  return best.numbers().flatMap((at) => entries[at] ?? []);
};

/** Keeps the numbers that are worth most, the most first; of two of one worth the lower one. */
const bestOf = (most: number) => {
  const kept: { readonly number: number; readonly worth: number }[] = [];
  const comesBefore = (number: number, worth: number, other: (typeof kept)[number] | undefined): boolean =>
    other === undefined || worth > other.worth || (worth === other.worth && number < other.number);
  return {
    offer: (number: number, worth: number): void => {
      if (kept.length === most && !comesBefore(number, worth, kept.at(-1))) return;
      let at = kept.length;
      while (at > 0 && comesBefore(number, worth, kept[at - 1])) at -= 1;
      kept.splice(at, 0, { number, worth });
      if (kept.length > most) kept.pop();
    },
    numbers: (): readonly number[] => kept.map(({ number }) => number),
  };
};

interface Indexed {
  readonly entries: readonly Entry[];
  readonly byText: ReadonlyMap<string, Entry>;
  /** Of each trigram, the entries that have it, in their order. */
  readonly places: ReadonlyMap<string, number[]>;
  /** How many trigrams each entry shares with the value that is looked for now; 0 between two values. */
  readonly shared: Uint16Array;
}

const indexed = (cells: Iterable<string>): Indexed => {
  const byText = new Map<string, Entry>();
  const places = new Map<string, number[]>();
  const entries: Entry[] = [];
  let row = 0;
  for (const cell of cells) {
    row += 1;
    const plain = plainText(cell);
    const known = byText.get(plain);
    if (known !== undefined) known.rows += 1;
    if (plain === '' || known !== undefined) continue;
    const trigrams = trigramsOf(plain);
    for (const trigram of trigrams) {
      const list = places.get(trigram);
      if (list === undefined) places.set(trigram, [entries.length]);
      else list.push(entries.length);
    }
    const entry = { plain, row, rows: 1, trigrams: trigrams.size };
    byText.set(plain, entry);
    entries.push(entry);
  }
  return { entries, byText, places, shared: new Uint16Array(entries.length) };
};

/** Puts a column in order, its cells from the first row on. */
export const columnIndex = (cells: Iterable<string>): ColumnIndex => {
  const index = indexed(cells);
  return {
    find: (value) => {
      const plain = plainText(value.slice(0, VALUE_MAX));
      if (plain === '') return undefined;
      const same = index.byText.get(plain);
      if (same !== undefined) return { row: same.row, score: 1, equal_rows: same.rows };
      let best: Match | undefined;
      for (const { plain: other, row, rows } of candidatesFor(trigramsOf(plain), index)) {
        const score = Math.min(likeness(plain, other), ALMOST);
        if (best === undefined || score > best.score || (score === best.score && row < best.row))
          best = { row, score, equal_rows: rows };
      }
      return best;
    },
  };
};
