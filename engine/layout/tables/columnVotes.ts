import type { PlacedWord, Row, Segment } from '../content.ts';
import { areTwoNumbers } from './cellLines.ts';
import { coveredSpans, type Span } from './tableCells.ts';

/** One row may cross a gap for each three that leave it free: titles, group rows, merged headers. */
const CROSSING_MAX = 0.34;

interface Edge {
  readonly x: number;
  readonly free: number;
  readonly covered: number;
}

/**
 * The columns of rows by vote: a place that at least two rows leave free between two of their segments, and
 * that few rows cover, parts columns. A single title or merged header therefore joins nothing, and a column
 * that few rows fill is still one.
 */
export function votedColumns(rows: readonly Row[]): readonly Span[] {
  const segments = rows.flatMap((row) => row.segments);
  const strips = gapsOf(stripsOf(edgesOf(rows)), segments);
  const from = Math.min(...segments.map(({ box }) => box[0]));
  const to = Math.max(...segments.map(({ box }) => box[2]));
  const columns: Span[] = [];
  let start = from;
  for (const strip of strips) {
    columns.push({ from: start, to: strip.from });
    start = strip.to;
  }
  return segments.length === 0 ? [] : [...columns, { from: start, to }];
}

/** Where segments and the gaps between them begin and end. */
function edgesOf(rows: readonly Row[]): readonly Edge[] {
  const edges: Edge[] = [];
  for (const { segments } of rows) {
    segments.forEach(({ box, words }, index) => {
      for (const { from, to } of piecesOf(words))
        edges.push({ x: from, free: 0, covered: 1 }, { x: to, free: 0, covered: -1 });
      const next = segments[index + 1];
      if (next === undefined || next.box[0] <= box[2]) return;
      edges.push({ x: box[2], free: 1, covered: 0 }, { x: next.box[0], free: -1, covered: 0 });
    });
  }
  return edges.sort((a, b) => a.x - b.x);
}

/** What a segment covers: two numbers side by side are two cells, however near they stand. */
function piecesOf(words: readonly PlacedWord[]): readonly Span[] {
  const pieces: { from: number; to: number }[] = [];
  words.forEach((word, i) => {
    const [before, piece] = [words[i - 1], pieces.at(-1)];
    if (before === undefined || piece === undefined || areTwoNumbers(before, word))
      pieces.push({ from: word.box[0], to: word.box[2] });
    else piece.to = word.box[2];
  });
  return pieces;
}

/** What enough rows leave free, and few cover. */
function stripsOf(edges: readonly Edge[]): readonly Span[] {
  const strips: { from: number; to: number }[] = [];
  let free = 0;
  let covered = 0;
  let isOpen = false;
  edges.forEach((edge, index) => {
    free += edge.free;
    covered += edge.covered;
    const to = edges[index + 1]?.x ?? edge.x;
    if (to - edge.x < 0.01) return;
    const isFree = free >= 2 && covered <= CROSSING_MAX * free;
    const last = strips.at(-1);
    if (!isFree) isOpen = false;
    else if (isOpen && last !== undefined) last.to = to;
    else strips.push({ from: edge.x, to });
    isOpen = isFree;
  });
  return strips;
}

/** Segments that lie within a strip are a column that few rows fill: the strip is what is left of it. */
function gapsOf(strips: readonly Span[], segments: readonly Segment[]): readonly Span[] {
  const sorted = [...segments].sort((a, b) => a.box[0] - b.box[0]);
  let at = 0;
  return strips.flatMap((strip) => {
    while ((sorted[at]?.box[0] ?? Infinity) < strip.from - 1) at += 1;
    const rest = sorted.slice(at, at + segmentsBefore(sorted, { from: at, x: strip.to }));
    return leftOf(
      strip,
      rest.filter(({ box }) => box[2] <= strip.to + 1),
    );
  });
}

function segmentsBefore(sorted: readonly Segment[], { from, x }: { from: number; x: number }): number {
  let count = 0;
  while ((sorted[from + count]?.box[0] ?? Infinity) < x) count += 1;
  return count;
}

/** What segments leave of a strip. */
function leftOf(strip: Span, inside: readonly Segment[]): readonly Span[] {
  const gaps: Span[] = [];
  let { from } = strip;
  const covered = coveredSpans(
    inside.map(({ box }) => box),
    2,
  );
  for (const span of covered) {
    if (span.from - from > 1) gaps.push({ from, to: span.from });
    from = Math.max(from, span.to);
  }
  return strip.to - from > 1 || gaps.length === 0 ? [...gaps, { from, to: strip.to }] : gaps;
}
