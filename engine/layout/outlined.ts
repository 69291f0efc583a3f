import { isCaption, isNote } from './captions.ts';
import type { Passage } from './paragraphs.ts';

/** A title that the document's own outline names. */
export interface OutlineTitle {
  readonly title: string;
  /** From 1. */
  readonly depth: number;
  /** From 0, of the pages that are laid out; undefined where it is not known, or the page is not among them. */
  readonly page: number | undefined;
}

/** Longer ones are no titles. */
const CHARACTERS_MAX = 300;

/** The passages that the outline names, each with its depth there. A title stands for one passage. */
export function outlinedPassages(
  pages: readonly (readonly Passage[])[],
  outline: readonly OutlineTitle[],
): ReadonlyMap<Passage, number> {
  const waiting = new Map<string, OutlineTitle[]>();
  for (const title of outline) {
    const key = keyOf(title.title);
    if (key !== '') waiting.set(key, [...(waiting.get(key) ?? []), title].slice(0, 100));
  }
  const found = new Map<Passage, number>();
  if (waiting.size === 0) return found;
  pages.forEach((passages, page) => {
    for (const passage of passages) {
      const title = takenBy(passage, page, waiting);
      if (title !== undefined) found.set(passage, title.depth);
    }
  });
  return found;
}

/** The title that a passage is, which no other passage will be then. */
function takenBy(
  { lines }: Passage,
  page: number,
  waiting: ReadonlyMap<string, OutlineTitle[]>,
): OutlineTitle | undefined {
  const text = lines.map((line) => line.text).join(' ');
  if (text.length > CHARACTERS_MAX || isCaption(text) || isNote(text)) return undefined;
  const titles = waiting.get(keyOf(text)) ?? [];
  const at = titles.findIndex((title) => title.page === undefined || title.page === page);
  return at < 0 ? undefined : titles.splice(at, 1)[0];
}

/** Letters and digits alone, without the number of a section, which outlines have or leave out. */
const keyOf = (title: string): string => {
  const text = title.replace(/^\s{0,9}(?:\d{1,2}(?:\.\d{1,2}){0,5}|[IVX]{1,5}|[A-Z])[.)]?\s+(?=\p{L})/u, '');
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
};
