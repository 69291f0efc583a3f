import { isRef, nameIn, type PdfObjects } from './objects.ts';
import type { PdfDict, PdfRef, PdfValue } from './syntax.ts';

/** A bookmark: the title of a section, as deep as it lies in the document's outline. */
export interface Bookmark {
  readonly title: string;
  /** From 1. */
  readonly depth: number;
  /** From 1; undefined where it cannot be told. */
  readonly page: number | undefined;
}

/** The bookmarks of a file. */
export interface Outline {
  /** From top to bottom. */
  readonly bookmarks: readonly Bookmark[];
  /** It is a tree, and no larger than such trees are: others lead those astray who follow them without a bound. */
  readonly isSound: boolean;
}

const BOOKMARKS_MAX = 5000;
const DEPTH_MAX = 12;

/** The outline of a file. `numbers` are those of pages by their objects. */
export function outlineOf(objects: PdfObjects, numbers: ReadonlyMap<number, number>): Outline {
  const first = objects.dict(objects.root.entries.get('Outlines'))?.entries.get('First');
  const found: Bookmark[] = [];
  const seen = new Set<number>();
  let isTree = true;
  const open: OutlineItem[] = [];
  const follow = (value: PdfValue | undefined, depth: number): void => {
    if (!isRef(value)) return;
    if (seen.has(value.number) || depth > DEPTH_MAX) isTree = false;
    else open.push({ ref: value, depth });
  };
  follow(first, 1);
  for (let next = open.pop(); next !== undefined && seen.size < BOOKMARKS_MAX; next = open.pop()) {
    const { ref, depth } = next;
    if (seen.has(ref.number)) isTree = false;
    const item = seen.has(ref.number) ? undefined : objects.dict(ref);
    seen.add(ref.number);
    if (item === undefined) continue;
    const title = textIn(objects.get(item.entries.get('Title')));
    if (title !== '') found.push({ title, depth, page: pageOf(item, objects, numbers) });
    follow(item.entries.get('Next'), depth);
    follow(item.entries.get('First'), depth + 1);
  }
  return { bookmarks: found, isSound: isTree && seen.size < BOOKMARKS_MAX };
}

interface OutlineItem {
  readonly ref: PdfRef;
  readonly depth: number;
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
