import { wholeScore } from '../words/says.ts';
import { concepts, type Concept } from '../words/concepts.ts';
import { overlap, type Segment } from '../places/layout.ts';
import type { Source } from '../source.ts';
import { groupedBy } from '../../kernel/lists.ts';
import { once } from '../../kernel/once.ts';

const IS_TITLE = 0.8;

/** A line that opens the section of a party: "Seller:", "Bill to". */
export interface Title {
  readonly segment: Segment;
  readonly concept: Concept;
  readonly score: number;
}

/** Whose section a segment stands in: that of the nearest title above it in its column. */
export function partyAt(segment: Segment, source: Source): string | undefined {
  const onPage = titlesByPage(source).get(segment.page) ?? [];
  return onPage.findLast((title) => isBelow(segment, title.segment, 190))?.concept.id;
}

/** The segments that are titles of parties. */
export const titledSegments = (source: Source): ReadonlySet<Segment> =>
  new Set(titles(source).map(({ segment }) => segment));

/** Computed once for a document, for every candidate asks. */
export const titles = once(findTitles);

const titlesByPage = once((source: Source) => groupedBy(titles(source), ({ segment }) => segment.page));

function findTitles({ layout, labels }: Source): readonly Title[] {
  const parties = concepts().filter(({ kind }) => kind === 'party');
  return layout.segments.flatMap((segment) => {
    const label = segment.text.split(':')[0] ?? '';
    if (label.length > 40 || /\d/.test(label)) return [];
    const best = parties
      .map((concept) => ({
        segment,
        concept,
        score: wholeScore(label, (words) => labels.concept(concept.id, words)),
      }))
      .reduce<Title | undefined>(
        (most, title) => (title.score > (most?.score ?? 0) ? title : most),
        undefined,
      );
    return best !== undefined && best.score >= IS_TITLE ? [best] : [];
  });
}

export const isBelow = (segment: Segment, title: Segment, pointsMax: number): boolean =>
  segment.page === title.page &&
  segment.y0 > title.y0 + 2 &&
  segment.y0 - title.y1 < pointsMax &&
  (overlap(segment, title) > 0.1 || Math.abs(segment.x0 - title.x0) < 12);
