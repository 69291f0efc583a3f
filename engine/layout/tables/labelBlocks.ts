import type { Row, Segment } from '../content.ts';

/** Points that labels may be off a common left edge. */
const OFF = 3;
/** Words of a label at most. */
const LABEL_WORDS_MAX = 6;
/** So many rows show that labels stand below each other. */
const ROWS_MIN = 2;
/** Rows of labels without colons must be more before rows of more cells end them. */
const FORM_MIN = 3;

const textOf = ({ words }: Segment): string => words.map(({ text }) => text).join(' ');

/** A text that names what stands right of it: it ends with a colon. */
const isLabel = (segment: Segment): boolean =>
  /[:：]$/.test(textOf(segment)) && /\p{L}/u.test(textOf(segment)) && segment.words.length <= LABEL_WORDS_MAX;

/** "Order number: PO-7731" in one piece. */
const isLabelled = (segment: Segment): boolean => /^\P{N}{2,40}:\s\S/u.test(textOf(segment));

/**
 * How many rows from here are labels with colons, each with its value beside it: they say one thing each and repeat
 * no record, so they are no table. 0 where they are none.
 */
export function labelRows(rows: readonly Row[], start: number): number {
  const below = rows.slice(start);
  const left = leftOf(below[0]);
  const end = below.findIndex((row) => !isLabelRow(row) || Math.abs(leftOf(row) - left) > OFF);
  const block = end === -1 ? below : below.slice(0, end);
  const pairs = block.filter(({ segments }) => arePairs(segments));
  return pairs.length < ROWS_MIN ? 0 : block.length;
}

const leftOf = (row: Row | undefined): number => row?.segments[0]?.box[0] ?? 0;

const isLabelRow = ({ segments }: Row): boolean => arePairs(segments) || segments.every(isLabelled);

/** Labels and values in turn. */
const arePairs = (segments: readonly Segment[]): boolean =>
  segments.length > 0 &&
  segments.length % 2 === 0 &&
  segments.every((segment, i) => isLabel(segment) === (i % 2 === 0));

/** Rows of a label and a value that rows of more cells follow: a table begins there, for it repeats what they hold. */
export const endsForm = (run: readonly Row[], row: Row, next: Row | undefined): boolean =>
  run.length >= FORM_MIN &&
  row.segments.length > 2 &&
  (next?.segments.length ?? 0) > 2 &&
  run.every(({ segments: [label, value, ...others] }) => others.length === 0 && isPair(label, value));

const isPair = (label: Segment | undefined, value: Segment | undefined): boolean =>
  label !== undefined && value !== undefined && !/\d/.test(textOf(label)) && /\p{L}/u.test(textOf(label));

/** Heights of a line that two blocks stand apart, and that the lines of one do at most. */
const APART = 3;
const LINE = 2.2;
/** Of the first step from line to line: a wider one ends a block. */
const LOOSE = 1.4;
const BLOCK_MAX = 8;

/** Lines with the code of a place: "2681 LC Monster", "D-38320 Eybens", "Meridian, OR 97555", "Wexcombe WX1 7TR". */
const PLACES: readonly RegExp[] = [
  /^(?:\p{Lu}{1,2}-)?\d{4,6} (?:\p{Lu}{2} )?\p{Lu}\p{L}/u,
  /\p{L},? \p{Lu}{2} \d{5}(?:-\d{4})?$/u,
  /\p{L},? \p{Lu}{1,2}\d[\p{Lu}\d]? \d\p{Lu}{2}$/u,
];

/**
 * The rows from here, one block after the other, where sender and recipient of a letter stand side by side: two blocks
 * of lines far apart, one of which has a place. Each says one thing, and their rows are no records.
 */
export function addressRows(
  rows: readonly Row[],
  start: number,
): { readonly rows: readonly Row[]; readonly taken: number } | undefined {
  const block = closeRows(rows, start);
  const both = block.filter(({ segments }) => segments.length === 2);
  const left = block.map(({ segments }) => segments[0]);
  if (both.length < ROWS_MIN || block.some(({ segments }) => segments.length > 2)) return undefined;
  const from = Math.min(...both.map(({ segments }) => segments[1]?.box[0] ?? 0));
  const sides = [true, false].map((isLeft) =>
    block.flatMap(({ segments }) => segments.filter(({ box }) => box[0] < from === isLeft)),
  );
  const places = sides.map(
    (side) => side.filter((one) => PLACES.some((form) => form.test(textOf(one)))).length,
  );
  const isApart = left.every(
    (one) => one === undefined || one.box[0] >= from || one.box[2] + APART * one.size < from,
  );
  const areBlocks = sides.every(
    (side) => isStraight(side) && side.every((one) => !isLabel(one) && isWorded(one)),
  );
  if (!isApart || !areBlocks || !places.includes(1) || places.some((count) => count > 1)) return undefined;
  const inTurn = sides.flatMap((side) => side.map((segment) => ({ segments: [segment], box: segment.box })));
  return { rows: inTurn, taken: block.length };
}

/** Rows that stand as close as the lines of a block, by the first two. */
function closeRows(rows: readonly Row[], start: number): readonly Row[] {
  const below = rows.slice(start, start + BLOCK_MAX + 1);
  const steps = below.slice(1).map(({ box }, i) => box[3] - (below[i]?.box[3] ?? 0));
  const [first = 0] = steps;
  const size = below[0]?.segments[0]?.size ?? 0;
  const end = steps.findIndex((step) => step > Math.min(LOOSE * first, LINE * size));
  const block = end === -1 ? below : below.slice(0, end + 1);
  return block.length > BLOCK_MAX ? [] : block;
}

/** On one left or right edge. */
const isStraight = (side: readonly Segment[]): boolean =>
  [0, 2].some((edge) => {
    const at = side.map(({ box }) => box[edge] ?? 0);
    return Math.max(...at) - Math.min(...at) <= OFF;
  });

const isWorded = (segment: Segment): boolean => /\p{L}{2}/u.test(textOf(segment));
