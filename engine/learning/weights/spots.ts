import { withoutEnd } from '../../kernel/text.ts';
import type { Candidate } from '../../extraction/candidates.ts';
import { overlap, type Layout, type Segment } from '../../extraction/places/layout.ts';
import type { ValueKind } from '../../extraction/words/concepts.ts';
import type { Source } from '../../extraction/source.ts';
import { groupedBy } from '../../kernel/lists.ts';

/** A range of a segment's text. */
export interface Part {
  readonly segment: Segment;
  readonly from: number;
  readonly to: number;
}

/** A place of the document that may hold a value: one part, or several lines under each other. */
export interface Spot {
  readonly parts: readonly [Part, ...Part[]];
  /** How it was cut out: whole segment, after a colon, a typed value, … */
  readonly cut: string;
  /** Its place among those of its kind. */
  readonly rank: number;
  readonly rankFromEnd: number;
  readonly typed: Candidate | undefined;
}

/** Longer documents are searched at their start and their end. */
const SEGMENTS_FIRST = 900;
const SEGMENTS_LAST = 300;
const SUFFIX_WORDS_MAX = 3;
const LINES_MAX = 5;
const PREFIX_WORDS_MAX = 2;
/** Centred lines have one middle; points. */
const CENTRED_WITHIN = 12;

/** At most so many segments are looked at. */
export function searched<T>(items: readonly T[]): readonly T[] {
  if (items.length <= SEGMENTS_FIRST + SEGMENTS_LAST) return items;
  return [...items.slice(0, SEGMENTS_FIRST), ...items.slice(-SEGMENTS_LAST)];
}

const inOrder = (spots: readonly Omit<Spot, 'rank' | 'rankFromEnd'>[]): readonly Spot[] =>
  spots.map((spot, rank) => ({ ...spot, rank, rankFromEnd: spots.length - 1 - rank }));

/** The typed values of some kinds, each at its place. */
export function typedSpots({ candidates }: Source, kinds: readonly ValueKind[]): readonly Spot[] {
  const found = kinds.flatMap((kind) => candidates.get(kind) ?? []);
  const sorted = [...found].sort((a, b) => a.segment.index - b.segment.index || a.from - b.from);
  return inOrder(
    searched(sorted).map((candidate) => {
      const { segment, from, to, kind } = candidate;
      return { parts: [{ segment, from, to }], cut: kind, typed: candidate };
    }),
  );
}

/** Texts: segments, what stands after a colon or first words or before a comma or last words, and lines joined. */
export function textSpots({ layout, candidates }: Source): readonly Spot[] {
  const tokens = groupedBy(candidates.get('id') ?? [], ({ segment }) => segment);
  return inOrder(
    searched(layout.segments).flatMap((segment) => [
      ...cutsOf(segment),
      ...(tokens.get(segment) ?? []).map(({ from, to }): Cut => ({
        parts: [{ segment, from, to }],
        cut: 'token',
        typed: undefined,
      })),
      ...blocksFrom(segment, layout),
    ]),
  );
}

type Cut = Omit<Spot, 'rank' | 'rankFromEnd'>;

const cutOf = (segment: Segment, [from, to]: readonly [number, number], cut: string): readonly Cut[] => {
  const raw = segment.text.slice(from, to);
  const start = from + (/^[\s:;,.]*/.exec(raw)?.[0].length ?? 0);
  const end = to - raw.length + withoutEnd(raw, /[\s:;,]/).length;
  return end <= start ? [] : [{ parts: [{ segment, from: start, to: end }], cut, typed: undefined }];
};

function cutsOf(segment: Segment): readonly Cut[] {
  const { text, starts } = segment;
  const colon = text.indexOf(':');
  const comma = text.indexOf(',');
  const suffixes = starts
    .slice(1, 1 + SUFFIX_WORDS_MAX)
    .filter((start) => start !== colon + 2)
    .flatMap((start, i) => cutOf(segment, [start, text.length], `word${String(i + 1)}`));
  const ends = starts.slice(2).slice(-PREFIX_WORDS_MAX).reverse();
  const prefixes = ends.flatMap((end, i) => cutOf(segment, [0, end], `without${String(i + 1)}`));
  return [
    ...cutOf(segment, [0, text.length], 'whole'),
    ...(colon > 0 ? cutOf(segment, [colon + 1, text.length], 'colon') : []),
    ...(comma > 0 ? cutOf(segment, [Math.max(0, colon + 1), comma], 'comma') : []),
    ...suffixes,
    ...prefixes,
  ];
}

/** Lines that stand under each other at one left edge, from this segment on. */
function blocksFrom(segment: Segment, layout: Layout): readonly Cut[] {
  const lines = [segment];
  for (let row = segment.row + 1; lines.length < LINES_MAX; row += 1) {
    const next = layout.rows[row]?.segments.find((other) => overlap(other, segment) > 0.15);
    const last = lines.at(-1) ?? segment;
    if (next === undefined || !goesOn(last, next)) break;
    lines.push(next);
  }
  const colon = segment.text.indexOf(':') + 1;
  const starts = colon > 0 && colon < segment.text.length ? [0, colon] : [0];
  return starts.flatMap((from) =>
    lines.slice(1).map((_, i): Cut => {
      const [first, ...others] = lines
        .slice(0, i + 2)
        .map((line): Part => ({ segment: line, from: 0, to: line.text.length }));
      const head = { segment, from, to: first?.to ?? segment.text.length };
      return {
        parts: [head, ...others],
        cut: `lines${String(i + 2)}${from > 0 ? 'colon' : ''}`,
        typed: undefined,
      };
    }),
  );
}

/** Lines of one value stand close, at one left edge or about one middle. */
const goesOn = (last: Segment, next: Segment): boolean =>
  next.page === last.page &&
  (Math.abs(next.x0 - last.x0) < 6 || Math.abs(next.x0 + next.x1 - last.x0 - last.x1) < 2 * CENTRED_WITHIN) &&
  next.y0 - last.y1 < 0.9 * (last.y1 - last.y0) + 1;

/** The text of a spot, its lines joined by `joint`. */
export const textOfSpot = ({ parts }: Spot, joint: string): string =>
  parts
    .map(({ segment, from, to }) => segment.text.slice(from, to).trim())
    .map((text, i) => (i < parts.length - 1 && joint.startsWith(',') ? text.replace(/[,;]$/, '') : text))
    .join(joint);
