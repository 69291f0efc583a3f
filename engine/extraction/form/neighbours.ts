import type { Layout, Row, Segment } from '../places/layout.ts';
import { firstPlace } from '../../kernel/lists.ts';
import { overlap } from '../places/layout.ts';

/** Rows that are looked through for what stands below or above: columns set their lines apart. */
const ROWS_MAX = 8;
const SAME_LEFT = 6;

/** The first of a row's segments that ends right of a place; rows go from left to right. */
const firstEndingAfter = ({ segments }: Row, x: number): number =>
  firstPlace(segments.length, (place) => (segments[place]?.x1 ?? 0) > x);

/** Of a row, the segment that stands in the column of another. */
export function inColumn(row: Row, of: Segment): Segment | undefined {
  const at = firstEndingAfter(row, of.x0 - SAME_LEFT);
  return row.segments
    .slice(at, at + 2)
    .find((other) => overlap(other, of) > 0.3 || Math.abs(other.x0 - of.x0) < SAME_LEFT);
}

/** The next on the same row. */
export function nextOf({ index, row }: Segment, { segments }: Layout): Segment | undefined {
  const next = segments[index + 1];
  return next?.row === row ? next : undefined;
}

/** The next segment below in the same column, no further than `reach` points from it. */
export function below(segment: Segment, { rows }: Layout, reach: number): Segment | undefined {
  for (const row of rows.slice(segment.row + 1, segment.row + 1 + ROWS_MAX)) {
    const other = inColumn(row, segment);
    if (row.page !== segment.page || (other === undefined && (row.segments[0]?.y0 ?? 0) - segment.y1 > reach))
      return undefined;
    if (other !== undefined && other.y0 > segment.y0 + 2)
      return other.y0 - segment.y1 <= reach ? other : undefined;
  }
  return undefined;
}

/** The segments above in the same column, the nearest first, in so many rows. */
export function above(segment: Segment, { rows }: Layout, rowsMax = ROWS_MAX): readonly Segment[] {
  const found: Segment[] = [];
  for (const row of rows.slice(Math.max(0, segment.row - rowsMax), segment.row).reverse()) {
    if (row.page !== segment.page) break;
    const other = inColumn(row, segment);
    if (other !== undefined && other.y0 < segment.y0 - 2) found.push(other);
  }
  return found;
}
