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
