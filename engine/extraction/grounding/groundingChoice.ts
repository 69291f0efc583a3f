import { overlap, type Layout, type Segment } from '../places/layout.ts';
import { labelWords, phraseSimilarity } from '../fields/words.ts';
import type { Leaf } from './groundingLeaves.ts';
import type { Occurrence } from './groundingSearch.ts';

export interface Sought {
  readonly leaf: Leaf;
  readonly occurrences: readonly Occurrence[];
}

export interface Chosen {
  readonly leaf: Leaf;
  readonly occurrence: Occurrence;
  /** 0..1: how exact, how unique and how well read it is. */
  readonly confidence: number;
}

const JUDGED_MAX = 60;
const EXACT_WEIGHT = 2;
const LABEL_WEIGHT = 1.5;
const NEAR_WEIGHT = 1.5;
const TAKEN_WEIGHT = 0.6;

/**
 * For each value the place that is meant: beside its name, near the other values of its object, and not one
 * that another value has taken. Values with one place only are placed first, for others to be near to.
 */
export function chosenOf(sought: readonly Sought[], layout: Layout): readonly Chosen[] {
  const groups = new Map<string, Sought[]>();
  for (const one of sought) {
    const same = groups.get(one.leaf.parent);
    if (same === undefined) groups.set(one.leaf.parent, [one]);
    else same.push(one);
  }
  const taken = new Set<string>();
  const heads = headsOf(layout);
  let before: number | undefined;
  return [...groups.values()].flatMap((group) => {
    const chosen = chosenInGroup(group, { heads, taken, before });
    before = chosen.at(-1)?.occurrence.segment.row ?? before;
    return chosen;
  });
}

interface Scene {
  readonly heads: Heads;
  readonly taken: Set<string>;
  /** The row at which the group before ended. */
  readonly before: number | undefined;
}

function chosenInGroup(group: readonly Sought[], scene: Scene): readonly Chosen[] {
  const rows: number[] = [];
  const byFewest = [...group].sort((a, b) => a.occurrences.length - b.occurrences.length);
  return byFewest.flatMap(({ leaf, occurrences }) => {
    const scored = occurrences
      .slice(0, JUDGED_MAX)
      .map((occurrence) => ({
        occurrence,
        score: scoreOf({ leaf, occurrence, only: occurrences.length === 1 }, rows, scene),
      }))
      .sort((a, b) => b.score - a.score);
    const [best, second] = scored;
    if (best === undefined) return [];
    rows.push(best.occurrence.segment.row);
    scene.taken.add(placeOf(best.occurrence));
    const lead = second === undefined ? 1 : best.score - second.score;
    return [{ leaf, occurrence: best.occurrence, confidence: confidenceOf(best.occurrence, lead) }];
  });
}

const placeOf = ({ segment, from }: Occurrence): string => `${segment.index} ${from}`;

interface Judged {
  readonly leaf: Leaf;
  readonly occurrence: Occurrence;
  readonly only: boolean;
}

function scoreOf({ leaf, occurrence, only }: Judged, rows: readonly number[], scene: Scene): number {
  if (only) return 0;
  const { row } = occurrence.segment;
  const label = scene.heads(occurrence, leaf.label);
  const near = rows.reduce((most, other) => Math.max(most, 1 / (1 + Math.abs(row - other))), 0);
  const follows =
    rows.length === 0 && scene.before !== undefined && row > scene.before ? followsBy(row - scene.before) : 0;
  const taken = scene.taken.has(placeOf(occurrence)) ? TAKEN_WEIGHT : 0;
  return EXACT_WEIGHT * occurrence.exactness + LABEL_WEIGHT * label + NEAR_WEIGHT * near + follows - taken;
}

/** Objects of a list follow each other: what comes next after the last is likely the next one's. */
const followsBy = (rows: number): number => 0.5 / rows;

/** Some lead of the best place: 0.97 of what a single place has; none: 0.85. Times what recognition says. */
function confidenceOf({ exactness, words }: Occurrence, lead: number): number {
  const unique = lead >= 1 ? 1 : lead >= 0.3 ? 0.97 : 0.85;
  const read = words.reduce((least, { confidence }) => Math.min(least, confidence), 1);
  return Math.round(1000 * Math.max(0, Math.min(1, exactness * unique * read))) / 1000;
}

/** 0..1: how well what stands before, left of or above a place says a name. */
type Heads = (occurrence: Occurrence, label: readonly string[]) => number;

const LABEL_MAX = 80;
const ABOVE_ROWS = 4;
const ABOVE = 0.8;

function headsOf({ rows, segments }: Layout): Heads {
  const cache = new Map<number, readonly string[]>();
  const wordsOf = (segment: Segment): readonly string[] => {
    const known = cache.get(segment.index) ?? labelWords(segment.text.slice(-LABEL_MAX));
    cache.set(segment.index, known);
    return known;
  };
  const aboveOf = (segment: Segment): readonly Segment[] =>
    rows
      .slice(Math.max(0, segment.row - ABOVE_ROWS), segment.row)
      .flatMap((row) =>
        row.segments.filter((other) => other.page === segment.page && overlap(other, segment) > 0.3),
      );
  return ({ segment, from }, label) => {
    if (label.length === 0) return 0;
    const own = phraseSimilarity(label, labelWords(segment.text.slice(Math.max(0, from - LABEL_MAX), from)));
    const before = segments[segment.index - 1];
    const left = before?.row === segment.row ? phraseSimilarity(label, wordsOf(before)) : 0;
    const above = aboveOf(segment).reduce(
      (most, other) => Math.max(most, phraseSimilarity(label, wordsOf(other))),
      0,
    );
    return Math.min(1, Math.max(own, left, ABOVE * above));
  };
}
