import type { Layout } from '../places/layout.ts';
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

const DIGITS_MIN = 3;

/** A number, a code or a date rather than a text, which may be a label in its turn. */
function isNumbered(text: string): boolean {
  const digits = text.match(/\d/g)?.length ?? 0;
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  return digits >= DIGITS_MIN && 2 * digits > letters;
}
