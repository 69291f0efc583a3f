import type { Layout, Segment } from '../places/layout.ts';
import { below } from './neighbours.ts';
import type { Pair } from './pair.ts';

type Drawn = Pick<Pair, 'label' | 'at' | 'value' | 'kind'>;

/** So many of them on a page make it a form of boxes. */
const BOXES_MIN = 3;
/** Of the height of a label: its value stands no further below. */
const NEAR = 0.6;
/** The same of what would make a value the first cell of a column. */
const COLUMN = 1.6;
/** Points. */
const ALIGNED = 12;

/**
 * Labels in letters like those of the values right below them. Where a page has several, these show themselves as
 * labels; but not above the columns of a table, where more numbers stand below.
 */
export function inBoxes<D extends Drawn>(all: readonly D[], layout: Layout): (draft: D) => D {
  const boxed = all.filter((draft) => isOverValue(draft, layout));
  const counts = new Map<number, number>();
  for (const { at } of boxed) counts.set(at.page, (counts.get(at.page) ?? 0) + 1);
  const heads = new Set(boxed.filter(({ at }) => (counts.get(at.page) ?? 0) >= BOXES_MIN));
  return (draft) => (heads.has(draft) ? { ...draft, kind: 'below' } : draft);
}

function isOverValue({ label, at, value: { segment }, kind }: Drawn, layout: Layout): boolean {
  const height = at.y1 - at.y0;
  if (kind !== 'under' || /\d/.test(label) || !isNumbered(segment.text)) return false;
  const isAligned =
    Math.min(Math.abs(at.x0 - segment.x0), Math.abs(at.x1 - segment.x1)) < ALIGNED ||
    Math.abs(at.x0 + at.x1 - segment.x0 - segment.x1) < ALIGNED;
  if (!isAligned || segment.y0 - at.y1 > NEAR * height) return false;
  return !/\d/.test(below(segment, layout, COLUMN * height)?.text ?? '');
}

/** So many values under each other make a column of their label. */
const COLUMN_MIN = 3;

/** The figures under each other below one of several headers, for each such header; none where they are few. */
export function columnsIn(pairs: readonly Drawn[], layout: Layout): ReadonlySet<Segment> {
  const columns = new Set<Segment>();
  for (const { at, value, kind } of pairs) {
    const isHeader = (layout.rows[at.row]?.segments.length ?? 0) > 1;
    if (!isHeader || (kind !== 'under' && kind !== 'below') || columns.has(value.segment)) continue;
    const cells = cellsFrom(value.segment, { at, layout });
    if (cells.length >= COLUMN_MIN) for (const cell of cells) columns.add(cell);
  }
  return columns;
}

/** Longer columns need not be followed: each value is looked at by itself. */
const CELLS_MAX = 200;

function cellsFrom(
  first: Segment,
  { at, layout }: { readonly at: Segment; readonly layout: Layout },
): readonly Segment[] {
  const reach = COLUMN * Math.max(first.y1 - first.y0, first.y0 - at.y1);
  const cells: Segment[] = [];
  for (let next: Segment | undefined = first; next !== undefined && hasFigures(next.text);) {
    cells.push(next);
    next = cells.length < CELLS_MAX ? below(next, layout, reach) : undefined;
  }
  return cells;
}

/** A number, a code or a date, however short. */
function hasFigures(text: string): boolean {
  const digits = text.match(/\d/g)?.length ?? 0;
  return digits > 0 && 2 * digits > (text.match(/\p{L}/gu)?.length ?? 0);
}

const DIGITS_MIN = 3;

/** A number, a code or a date rather than a text, which may be a label in its turn. */
function isNumbered(text: string): boolean {
  const digits = text.match(/\d/g)?.length ?? 0;
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  return digits >= DIGITS_MIN && 2 * digits > letters;
}
