import type { Layout, Row, Segment } from '../places/layout.ts';
import { NUMBERING } from './printed.ts';

/** Points that numbers of one column may stand apart. */
const ALIGNED = 6;
const NUMBERED_MIN = 4;
/** A line may have no number of its own, or several. */
const STEP_MAX = 3;
const ASCENDING_SHARE = 0.7;

/**
 * The numbers of a form's lines and boxes: small numbers under each other that go up by about one. A column
 * of amounts does not.
 */
export function numberingOf({ rows, segments }: Layout): ReadonlySet<Segment> {
  const columns = new Map<string, Segment[]>();
  for (const segment of segments) {
    if (!NUMBERING.test(segment.text)) continue;
    for (const key of columnsOf(segment)) {
      const column = columns.get(key);
      if (column === undefined) columns.set(key, [segment]);
      else column.push(segment);
    }
  }
  return new Set([...[...columns.values()].filter(isAscending).flat(), ...rows.flatMap(twice)]);
}

/** The column by its left and its right side; each place counts for two columns that overlap by half. */
const columnsOf = ({ page, x0, x1 }: Segment): readonly string[] =>
  [
    `l${Math.floor(x0 / ALIGNED)}`,
    `L${Math.round(x0 / ALIGNED)}`,
    `r${Math.floor(x1 / ALIGNED)}`,
    `R${Math.round(x1 / ALIGNED)}`,
  ].map((side) => `${page} ${side}`);

/** Forms print a line's number at its beginning and again before its box. */
function twice({ segments }: Row): readonly Segment[] {
  const numbers = segments.filter(({ text }) => NUMBERING.test(text));
  const own = numbers.filter(({ text }) => text === segments[0]?.text);
  return own.length > 1 && segments.some(({ text }) => /\p{L}{3}/u.test(text)) ? own : [];
}

function isAscending(column: readonly Segment[]): boolean {
  if (column.length < NUMBERED_MIN) return false;
  const numbers = column.map(({ text }) => Number(NUMBERING.exec(text)?.[1]));
  const steps = numbers.slice(1).map((number, i) => number - (numbers[i] ?? 0));
  const going = steps.filter((step) => step >= 0 && step <= STEP_MAX).length;
  const moved = steps.filter((step) => step > 0).length;
  return going >= ASCENDING_SHARE * steps.length && moved * 2 >= steps.length;
}
