import { isRef, type PdfObjects } from './objects.ts';
import type { PdfDict, PdfValue } from './syntax.ts';

/** A page of the file with what it takes from the groups that it is in. */
export interface InnerPage {
  readonly dict: PdfDict;
  readonly resources: PdfDict | undefined;
  /** Left, bottom, right and top of what is shown, in points. */
  readonly box: readonly [number, number, number, number];
  /** Degrees, clockwise. */
  readonly rotation: number;
}

export interface PageTree {
  /** In the order of the document. */
  readonly pages: readonly InnerPage[];
  /** The number of a page, from 1, by that of its object. */
  readonly numbers: ReadonlyMap<number, number>;
}

const PAGES_MAX = 20_000;
const INHERITED = ['Resources', 'MediaBox', 'CropBox', 'Rotate'] as const;
type Inherited = ReadonlyMap<string, PdfValue>;

/** The pages of a file, from its tree of pages. */
export function pageTree(objects: PdfObjects): PageTree {
  const pages: InnerPage[] = [];
  const numbers = new Map<number, number>();
  const seen = new Set<number>();
  const open: { readonly value: PdfValue; readonly from: Inherited }[] = [];
  const first = objects.root.entries.get('Pages');
  if (first !== undefined) open.push({ value: first, from: new Map() });
  while (open.length > 0 && pages.length < PAGES_MAX) {
    const { value, from } = open.pop() ?? { value: null, from: new Map<string, PdfValue>() };
    if (!isRef(value) || seen.has(value.number)) continue;
    seen.add(value.number);
    const dict = objects.dict(value);
    if (dict === undefined) continue;
    const own = inherited(dict, from);
    const kids = objects.list(dict.entries.get('Kids'));
    if (kids === undefined) {
      pages.push(innerPage(dict, own, objects));
      numbers.set(value.number, pages.length);
    } else for (const kid of [...kids.items].reverse()) open.push({ value: kid, from: own });
  }
  return { pages, numbers };
}

function inherited({ entries }: PdfDict, from: Inherited): Inherited {
  const own = new Map(from);
  for (const key of INHERITED) {
    const value = entries.get(key);
    if (value !== undefined) own.set(key, value);
  }
  return own;
}

function innerPage(dict: PdfDict, own: Inherited, objects: PdfObjects): InnerPage {
  const rotation = objects.get(own.get('Rotate'));
  return {
    dict,
    resources: objects.dict(own.get('Resources')),
    box: boxOf(own, objects),
    rotation: typeof rotation === 'number' ? ((rotation % 360) + 360) % 360 : 0,
  };
}

/** What is shown: the crop box within the media box. */
function boxOf(own: Inherited, objects: PdfObjects): InnerPage['box'] {
  const media = numbersIn(own.get('MediaBox'), objects) ?? ([0, 0, 612, 792] as const);
  const crop = numbersIn(own.get('CropBox'), objects);
  if (crop === undefined) return media;
  const [x0, y0] = [Math.max(media[0], crop[0]), Math.max(media[1], crop[1])];
  const [x1, y1] = [Math.min(media[2], crop[2]), Math.min(media[3], crop[3])];
  return x0 < x1 && y0 < y1 ? [x0, y0, x1, y1] : media;
}

function numbersIn(value: PdfValue | undefined, objects: PdfObjects): InnerPage['box'] | undefined {
  const [a, b, c, d] = objects.list(value)?.items.map((item) => objects.get(item)) ?? [];
  if (typeof a !== 'number' || typeof b !== 'number' || typeof c !== 'number' || typeof d !== 'number')
    return undefined;
  return [Math.min(a, c), Math.min(b, d), Math.max(a, c), Math.max(b, d)];
}
