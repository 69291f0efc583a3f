import type { Layout, Segment } from '../places/layout.ts';
import type { Source } from '../source.ts';
import { once } from '../../kernel/once.ts';

/** Lines of one look that stand under each other. */
export interface Run {
  readonly segments: readonly Segment[];
  /** Height of its letters in those of the page's running text; of headings without a size, by their level. */
  readonly size: number;
}

/** What stands before the text of a document begins. */
export interface Head {
  /** The segments of the first page's upper part, in reading order. */
  readonly segments: readonly Segment[];
  /** What is set larger than the text of the first page, the largest first. */
  readonly large: readonly Run[];
}

/** Made once for a document. */
export const headOf = once(found);

/** The part of a page that its head may reach down to. */
const UPPER = 0.33;
const SEGMENTS_MAX = 24;
const LARGER = 1.12;
const HEADING_SIZE = 2;

function found({ layout, document: { pages } }: Source): Head {
  const [page] = pages;
  const first = firstPage(layout);
  const height = page?.height ?? null;
  const segments = (
    height === null ? first.slice(0, SEGMENTS_MAX / 2) : first.filter(({ y1 }) => y1 < UPPER * height)
  ).slice(0, SEGMENTS_MAX);
  if (page === undefined) return { segments, large: [] };
  const body = bodySize(first);
  const headings = new Map(
    page.blocks.flatMap((block) => (block.kind === 'heading' ? [[block.text.trim(), block.level]] : [])),
  );
  const sizeOf = (segment: Segment): number => {
    const level = headings.get(segment.text);
    const size = segment.words[0]?.fontSize ?? null;
    if (size !== null && body > 0) return size / body;
    return level === undefined ? 1 : HEADING_SIZE - level / 10;
  };
  return { segments, large: runsOf(first, sizeOf) };
}

const firstPage = ({ segments }: Layout): readonly Segment[] => {
  const end = segments.findIndex(({ page }) => page !== segments[0]?.page);
  return end < 0 ? segments : segments.slice(0, end);
};

/** The size that most characters have. */
function bodySize(segments: readonly Segment[]): number {
  const counts = new Map<number, number>();
  for (const { words } of segments)
    for (const { text, fontSize } of words)
      if (fontSize !== null)
        counts.set(
          Math.round(2 * fontSize) / 2,
          (counts.get(Math.round(2 * fontSize) / 2) ?? 0) + text.length,
        );
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? 0;
}

const SAME_SIZE = 0.04;

function runsOf(segments: readonly Segment[], sizeOf: (segment: Segment) => number): readonly Run[] {
  const runs: { segments: Segment[]; size: number }[] = [];
  for (const segment of segments) {
    const size = sizeOf(segment);
    if (size < LARGER || !/\p{L}{2}/u.test(segment.text)) continue;
    const last = runs.at(-1);
    const before = last?.segments.at(-1);
    if (last !== undefined && before !== undefined && goesOn(before, segment, Math.abs(last.size - size)))
      last.segments.push(segment);
    else runs.push({ segments: [segment], size });
  }
  return runs.sort((a, b) => b.size - a.size || (a.segments[0]?.index ?? 0) - (b.segments[0]?.index ?? 0));
}

/** The next line of the same look, close below. */
const goesOn = (before: Segment, segment: Segment, difference: number): boolean =>
  difference < SAME_SIZE &&
  segment.row > before.row &&
  segment.words[0]?.box !== null &&
  segment.words[0]?.bold === before.words[0]?.bold &&
  segment.y0 - before.y1 < 0.6 * (before.y1 - before.y0);
