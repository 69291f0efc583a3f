import type { Passage } from '../paragraphs.ts';

export type HeadingLevel = 1 | 2 | 3 | 4 | 5 | 6;

const asLevel = (level: number): HeadingLevel => Math.min(6, Math.max(1, level)) as HeadingLevel;

/**
 * The levels of a document's headings. What the document says itself counts more than how it looks: its outline
 * (`outlined`: how deep a heading lies in it), then the numbers of its sections, then sizes, the largest first.
 */
export function headingLevels(
  headings: readonly Passage[],
  outlined: ReadonlyMap<Passage, number>,
  known: LooksOfHeadings = looksOfHeadings(headings, outlined),
): ReadonlyMap<Passage, HeadingLevel> {
  const { levels: byLook, shift } = known;
  const levels = new Map<Passage, HeadingLevel>();
  for (const heading of headings) {
    const depth = outlined.get(heading);
    const level = depth === undefined ? levelOfLook(byLook, rankOf(heading)) : depth + shift;
    levels.set(heading, asLevel(level));
  }
  return numbered(levels, outlined);
}

/** How headings look in a document, and what levels that makes. */
export interface LooksOfHeadings {
  readonly levels: ReadonlyMap<number, number>;
  readonly shift: 0 | 1;
}

export function looksOfHeadings(
  headings: readonly Passage[],
  outlined: ReadonlyMap<Passage, number>,
): LooksOfHeadings {
  const looks = [...new Set(headings.map(rankOf))].sort((a, b) => b - a);
  return { levels: levelsOfLooks(looks, headings, outlined), shift: shiftOf(looks, outlined) };
}

/** A look that is not known is one below the next larger one that is. */
function levelOfLook(levels: ReadonlyMap<number, number>, rank: number): number {
  const own = levels.get(rank);
  if (own !== undefined) return own;
  const larger = [...levels].filter(([look]) => look > rank).map(([, level]) => level);
  return Math.max(0, ...larger) + 1;
}

/** The larger the earlier; bold of the text's own size comes last. */
const rankOf = ({ size, bold }: Passage): number => Math.round(size * 2) * 2 + (bold ? 1 : 0);

/** What is larger than all that the outline names is a title above it. */
function shiftOf(looks: readonly number[], outlined: ReadonlyMap<Passage, number>): 0 | 1 {
  const [largest = 0] = looks;
  return outlined.size > 0 && [...outlined.keys()].every((heading) => rankOf(heading) < largest) ? 1 : 0;
}

/** The level of each look: that of the outlined headings which have it, else one below the next larger look. */
function levelsOfLooks(
  looks: readonly number[],
  headings: readonly Passage[],
  outlined: ReadonlyMap<Passage, number>,
): ReadonlyMap<number, number> {
  const shift = shiftOf(looks, outlined);
  const depths = new Map<number, number>();
  for (const heading of headings) {
    const depth = outlined.get(heading);
    const rank = rankOf(heading);
    if (depth !== undefined) depths.set(rank, Math.min(depths.get(rank) ?? Infinity, depth + shift));
  }
  const levels = new Map<number, number>();
  let above = 0;
  for (const look of looks) {
    above = depths.get(look) ?? above + 1;
    levels.set(look, above);
  }
  return levels;
}

const SECTION = /^(\d{1,2}(?:\.\d{1,2}){0,5})\.?\s+\p{L}/u;

/** How many parts the number of a section has; undefined where it has no number. */
const partsOf = (heading: Passage): number | undefined =>
  SECTION.exec(heading.lines[0]?.text ?? '')?.[1]?.split('.').length;

/** Where sections are numbered in several parts, `2.1` lies one below `2`, however it looks. */
function numbered(
  levels: ReadonlyMap<Passage, HeadingLevel>,
  outlined: ReadonlyMap<Passage, number>,
): ReadonlyMap<Passage, HeadingLevel> {
  const sections = [...levels].flatMap(([heading, level]) => {
    const parts = partsOf(heading);
    return parts === undefined ? [] : [{ heading, level, parts }];
  });
  if (new Set(sections.map(({ parts }) => parts)).size < 2) return levels;
  let least = Infinity;
  for (const { parts } of sections) least = Math.min(least, parts);
  let base: number = 6;
  for (const { parts, level } of sections) if (parts === least) base = Math.min(base, level);
  const own = sections
    .filter(({ heading }) => !outlined.has(heading))
    .map(({ heading, parts }) => [heading, asLevel(base + parts - least)] as const);
  return new Map([...levels, ...own]);
}
