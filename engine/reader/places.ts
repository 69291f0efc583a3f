import type { Block, Box, TableCell } from '../document/document.ts';
import { concepts } from '../extraction/words/concepts.ts';
import { overlap, type Segment } from '../extraction/places/layout.ts';
import type { Source } from '../extraction/source.ts';
import { newLabelBook, type LabelBook } from './labelBook.ts';
import { wordsOf } from './words.ts';
import { lexicon } from '../extraction/words/lexicon.ts';
import { stemOf } from '../extraction/words/labelWords.ts';

/** How a label stands to a value. */
export const RELATIONS = [
  'own', 'left', 'left2', 'above', 'above2', 'below', 'right', 'colhead', 'rowhead', 'section', 'before', 'after',
] as const; // prettier-ignore
export type Relation = (typeof RELATIONS)[number];

/** What stands around a segment: numbers of labels, and distances in heights of its line; -1: nothing. */
export interface Place {
  readonly left: number;
  readonly left2: number;
  readonly above: number;
  readonly above2: number;
  readonly below: number;
  readonly right: number;
  readonly colhead: number;
  readonly rowhead: number;
  readonly section: number;
  readonly leftGap: number;
  readonly aboveGap: number;
  readonly belowGap: number;
  readonly rightGap: number;
  readonly leftColon: boolean;
  readonly aboveColon: boolean;
  readonly numbersAbove: number;
  readonly inRow: number;
  readonly leftDigits: boolean;
  readonly aboveDigits: boolean;
  readonly rightDigits: boolean;
  readonly block: Block['kind'] | undefined;
  readonly level: number;
  readonly inCell: boolean;
  /** Share of its words that labels are made of, 0..1. */
  readonly labelShare: number;
  /** The same of the column that begins where it does: share of labels, and how many stand there. */
  readonly columnLabels: number;
  readonly columnSize: number;
}

export interface Places {
  readonly book: LabelBook;
  readonly placeOf: (segment: Segment) => Place;
  /** Width and height of a page, points. */
  readonly sizeOf: (page: number) => readonly [number, number];
  /** The median size of letters. */
  readonly fontSize: number;
}

const LABEL_WORDS: ReadonlySet<string> = new Set([
  ...concepts().flatMap(({ phrases }) => phrases.flatMap((words) => words.map(stemOf))),
  ...lexicon.reader.label_words.words.flatMap(wordsOf),
]);

/** Share of words that labels are made of, 0..1. */
export const labelShare = (words: readonly string[]): number =>
  words.length === 0 ? 0 : words.filter((word) => LABEL_WORDS.has(word)).length / words.length;

/** A label is the end of a text: eight words at most. */
const LABEL_CHARACTERS = 120;
const LABEL_WORDS_MAX = 8;
export const labelWordsOf = (text: string): readonly string[] =>
  wordsOf(text.length > LABEL_CHARACTERS ? text.slice(-LABEL_CHARACTERS) : text).slice(-LABEL_WORDS_MAX);

const hasWord = ({ text }: Segment): boolean => /\p{L}{2,}/u.test(text);
const hasDigit = ({ text }: Segment): boolean => /\d/.test(text);
const endsInColon = ({ text }: Segment): boolean => /[:：]\s*$/.test(text);
const isUnder = (one: Segment, other: Segment): boolean =>
  one.page === other.page && overlap(one, other) > 0.2;

const heightOf = ({ y0, y1 }: Segment): number => Math.max(4, y1 - y0);
const GAP_MAX = 50;
const gapOf = (points: number, segment: Segment): number => Math.min(GAP_MAX, points / heightOf(segment));

/** The places of a document; each is found when it is asked for first. */
export function placesOf(source: Source): Places {
  const { layout, document } = source;
  const book = newLabelBook();
  const label = (segment: Segment | undefined): number =>
    segment === undefined ? 0 : book.labelOf(labelWordsOf(segment.text));
  const blocks = blocksOf(source);
  const columns = columnsOf(layout.segments);
  const places = new Array<Place | undefined>(layout.segments.length);
  const found = (segment: Segment): Place => ({
    ...besides(segment, source, label),
    ...verticals(segment, source, label),
    ...heads(segment, { source, blocks, book }),
    ...columns(segment),
  });
  const sizes = new Map(document.pages.map(({ page, width, height }) => [page, [width, height] as const]));
  const farthest = farthestOf(layout.segments);
  const fonts = layout.segments
    .map(({ words: [word], y0, y1 }) => word?.fontSize ?? y1 - y0)
    .sort((a, b) => a - b);
  return {
    book,
    placeOf: (segment) => (places[segment.index] ??= found(segment)),
    sizeOf: (page) => {
      const [x, y] = farthest.get(page) ?? [1, 1];
      const [width, height] = sizes.get(page) ?? [null, null];
      return [width ?? x, height ?? y];
    },
    fontSize: fonts[fonts.length >> 1] ?? 1,
  };
}

function farthestOf(segments: readonly Segment[]): ReadonlyMap<number, readonly [number, number]> {
  const farthest = new Map<number, [number, number]>();
  for (const { page, x1, y1 } of segments) {
    const [x, y] = farthest.get(page) ?? [1, 1];
    farthest.set(page, [Math.max(x, x1), Math.max(y, y1)]);
  }
  return farthest;
}

const is = (segment: Segment | undefined, what: (one: Segment) => boolean): boolean =>
  segment !== undefined && what(segment);

type Label = (segment: Segment | undefined) => number;

function besides(segment: Segment, { layout }: Source, label: Label) {
  const row = layout.rows[segment.row]?.segments ?? [];
  const at = row.indexOf(segment);
  const left = row.slice(0, Math.max(0, at)).filter(hasWord);
  const [near, far] = [left.at(-1), left.at(-2)];
  const right = at < 0 ? undefined : row[at + 1];
  return {
    left: label(near),
    left2: label(far),
    right: label(right),
    leftGap: near === undefined ? -1 : gapOf(segment.x0 - near.x1, segment),
    rightGap: right === undefined ? -1 : gapOf(right.x0 - segment.x1, segment),
    leftColon: is(near, endsInColon),
    leftDigits: is(near, hasDigit),
    rightDigits: is(right, hasDigit),
    inRow: row.length,
  };
}

const ABOVE_ROWS = 8;
const BELOW_ROWS = 2;

function verticals(segment: Segment, { layout: { rows } }: Source, label: Label) {
  const over = rows
    .slice(Math.max(0, segment.row - ABOVE_ROWS), segment.row)
    .toReversed()
    .flatMap((row) => row.segments.find((other) => isUnder(other, segment)) ?? []);
  const [above, above2] = over.filter(hasWord);
  const below = rows
    .slice(segment.row + 1, segment.row + 1 + BELOW_ROWS)
    .flatMap(({ segments }) => segments.find((other) => isUnder(other, segment)) ?? [])[0];
  return {
    above: label(above),
    above2: label(above2),
    below: is(below, hasWord) ? label(below) : 0,
    aboveGap: above === undefined ? -1 : gapOf(segment.y0 - above.y1, segment),
    belowGap: below === undefined ? -1 : gapOf(below.y0 - segment.y1, segment),
    aboveColon: is(above, endsInColon),
    aboveDigits: is(above, hasDigit),
    numbersAbove: above === undefined ? over.length : over.indexOf(above),
  };
}

interface Blocks {
  readonly blockOf: (segment: Segment) => { readonly block: Block; readonly section: string } | undefined;
}

interface Heads {
  readonly source: Source;
  readonly blocks: Blocks;
  readonly book: LabelBook;
}

const isIn = ({ x0, y0, x1, y1 }: Segment, box: Box): boolean => {
  const [x, y] = [(x0 + x1) / 2, (y0 + y1) / 2];
  return x >= box[0] - 1 && x <= box[2] + 1 && y >= box[1] - 1 && y <= box[3] + 1;
};

function heads(segment: Segment, { source, blocks, book }: Heads) {
  const held = blocks.blockOf(segment);
  const cell = cellOf(segment, held?.block);
  const column = cell?.head ?? columnHead(segment, source);
  const lead = cell?.lead ?? rowHead(segment, source);
  return {
    colhead: book.labelOf(labelWordsOf(column)),
    rowhead: book.labelOf(labelWordsOf(lead)),
    section: book.labelOf(labelWordsOf(sectionOf(segment, held, source))),
    block: held?.block.kind,
    level: levelOf(held?.block),
    inCell: cell !== undefined,
    labelShare: labelShare(labelWordsOf(segment.text)),
  };
}

const levelOf = (block: Block | undefined): number => (block?.kind === 'heading' ? block.level : 0);

function rowHead(segment: Segment, { layout: { rows } }: Source): string {
  const first = rows[segment.row]?.segments[0];
  return first !== segment && is(first, hasWord) ? (first?.text ?? '') : '';
}

const sectionOf = (
  segment: Segment,
  held: { readonly section: string } | undefined,
  source: Source,
): string => (held?.section ?? '') || lineAbove(segment, source);

interface CellHeads {
  readonly head: string | undefined;
  readonly lead: string | undefined;
}

/** The heads of a table's cell; undefined outside of tables. */
function cellOf(segment: Segment, block: Block | undefined): CellHeads | undefined {
  if (block?.kind !== 'table') return undefined;
  const cell = block.cells.find(({ box }) => box !== null && isIn(segment, box));
  if (cell === undefined) return undefined;
  const isAbove = ({ row, column, columnSpan }: TableCell): boolean =>
    row < Math.max(1, block.headerRows) && column <= cell.column && column + columnSpan > cell.column;
  const above = block.cells.filter((other) => other !== cell && isAbove(other));
  const lead = block.cells.find(({ row, column }) => row === cell.row && column === 0);
  return {
    head: above.length === 0 ? undefined : above.map(({ text }) => text).join(' '),
    lead: lead === undefined || lead === cell ? undefined : lead.text,
  };
}

const COLUMN_ROWS = 60;

/** The highest worded text above in an unbroken run of rows of several columns. */
function columnHead(segment: Segment, { layout: { rows } }: Source): string {
  let [head, gap] = ['', 0];
  for (let k = segment.row - 1; k >= Math.max(0, segment.row - COLUMN_ROWS) && gap < 3; k -= 1) {
    const row = rows[k]?.segments ?? [];
    const up = row.find((other) => isUnder(other, segment));
    gap = up === undefined ? gap + 1 : 0;
    if (up !== undefined && row.length > 1 && hasWord(up)) head = up.text;
  }
  return head;
}

const SECTION_ROWS = 15;
const SECTION_WORDS = 5;

const isHeadOf = (line: Segment, { page, x0 }: Segment): boolean =>
  line.page === page &&
  line.words.length <= SECTION_WORDS &&
  line.x0 <= x0 + 10 &&
  hasWord(line) &&
  !hasDigit(line);

/** The nearest short line above that stands alone. */
function lineAbove(segment: Segment, { layout: { rows } }: Source): string {
  for (let k = segment.row - 1; k >= Math.max(0, segment.row - SECTION_ROWS); k -= 1) {
    const [only, other] = rows[k]?.segments ?? [];
    if (only !== undefined && other === undefined && isHeadOf(only, segment)) return only.text;
  }
  return '';
}

const BLOCKS_A_PAGE = 600;

/** The block that a segment stands in, with the last heading before it. */
function blocksOf({ document }: Source): Blocks {
  const byPage = new Map<number, { readonly block: Block; readonly section: string }[]>();
  const byText = new Map<string, { readonly block: Block; readonly section: string }>();
  let section = '';
  for (const { page, blocks } of document.pages) {
    const held: { readonly block: Block; readonly section: string }[] = [];
    for (const block of blocks.slice(0, BLOCKS_A_PAGE)) {
      const one = { block, section };
      if (block.box !== null) held.push(one);
      else if (block.kind !== 'table') byText.set(`${page} ${block.text}`, one);
      if (block.kind === 'heading') section = block.text;
    }
    byPage.set(page, held);
  }
  return {
    blockOf: (segment) =>
      byPage.get(segment.page)?.find(({ block: { box } }) => box !== null && isIn(segment, box)) ??
      byText.get(`${segment.page} ${segment.text}`),
  };
}

const COLUMN_POINTS = 4;

/** How many of the segments that begin at the same place are labels. */
function columnsOf(
  segments: readonly Segment[],
): (segment: Segment) => Pick<Place, 'columnLabels' | 'columnSize'> {
  const columns = new Map<string, { all: number; labels: number }>();
  const keyOf = ({ page, x0 }: Segment): string => `${page} ${Math.round(x0 / COLUMN_POINTS)}`;
  for (const segment of segments) {
    const column = columns.get(keyOf(segment)) ?? { all: 0, labels: 0 };
    columns.set(keyOf(segment), column);
    column.all += 1;
    const isLabel =
      endsInColon(segment) || (!hasDigit(segment) && labelShare(labelWordsOf(segment.text)) >= 0.6);
    if (isLabel) column.labels += 1;
  }
  return (segment) => {
    const { all, labels } = columns.get(keyOf(segment)) ?? { all: 1, labels: 0 };
    return { columnLabels: labels / all, columnSize: Math.min(40, all) };
  };
}
