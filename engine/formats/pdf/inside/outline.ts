import { isRef, nameIn, type PdfObjects } from './objects.ts';
import type { PdfDict, PdfValue } from './syntax.ts';

/** A bookmark: the title of a section, as deep as it lies in the document's outline. */
export interface Bookmark {
  readonly title: string;
  /** From 1. */
  readonly depth: number;
  /** From 1; undefined where it cannot be told. */
  readonly page: number | undefined;
}

const BOOKMARKS_MAX = 5000;
const DEPTH_MAX = 12;

/** The outline of a file, from top to bottom. `numbers` are those of pages by their objects. */
export function outlineOf(objects: PdfObjects, numbers: ReadonlyMap<number, number>): readonly Bookmark[] {
  const first = objects.dict(objects.root.entries.get('Outlines'))?.entries.get('First');
  const found: Bookmark[] = [];
  const seen = new Set<number>();
  const open: { readonly value: PdfValue | undefined; readonly depth: number }[] = [
    { value: first, depth: 1 },
  ];
  while (open.length > 0 && found.length < BOOKMARKS_MAX) {
    const { value, depth } = open.pop() ?? { value: undefined, depth: 1 };
    if (!isRef(value) || seen.has(value.number)) continue;
    seen.add(value.number);
    const item = objects.dict(value);
    if (item === undefined) continue;
    const title = textIn(objects.get(item.entries.get('Title')));
    if (title !== '') found.push({ title, depth, page: pageOf(item, objects, numbers) });
    open.push({ value: item.entries.get('Next'), depth });
    if (depth < DEPTH_MAX) open.push({ value: item.entries.get('First'), depth: depth + 1 });
  }
  return found;
}

/** UTF-16 or UTF-8 with their marks, else Latin letters. */
function textIn(value: PdfValue | undefined): string {
  if (typeof value !== 'object' || value?.kind !== 'text') return '';
  const bytes = Buffer.from(value.bytes);
  const mark = bytes.subarray(0, 3).toString('hex');
  const text = mark.startsWith('feff')
    ? new TextDecoder('utf-16be').decode(bytes)
    : mark === 'efbbbf'
      ? bytes.toString('utf8')
      : bytes.toString('latin1');
  return text.replace(/[\s\u0000-\u001f\ufeff]+/g, ' ').trim();
}

/** Where it leads to: a place itself, or an action that goes there; of names nothing is looked up. */
function pageOf(
  { entries }: PdfDict,
  objects: PdfObjects,
  numbers: ReadonlyMap<number, number>,
): number | undefined {
  const action = objects.dict(entries.get('A'))?.entries;
  const isGoTo = nameIn(objects.get(action?.get('S'))) === 'GoTo';
  const [page] = objects.list(entries.get('Dest') ?? (isGoTo ? action?.get('D') : undefined))?.items ?? [];
  return isRef(page) ? numbers.get(page.number) : undefined;
}
