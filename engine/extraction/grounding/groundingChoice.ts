import { addTo, groupedBy } from '../../kernel/lists.ts';
import { overlap, type Layout, type Segment } from '../places/layout.ts';
import { labelWords } from '../words/labelWords.ts';
import { phraseSimilarity } from '../words/alike.ts';
import type { Leaf } from './groundingLeaves.ts';
import type { Occurrence } from './groundingSearch.ts';
import { once } from '../../kernel/once.ts';

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
export function chosenOf(
  sought: readonly Sought[],
  layout: Layout,
  computed: ReadonlySet<string> = new Set(),
): readonly Chosen[] {
  return withoutChance(sought, firstChosen(sought, layout), computed);
}

function firstChosen(sought: readonly Sought[], layout: Layout): readonly Chosen[] {
  const groups = groupedBy(sought, ({ leaf }) => leaf.parent);
  const taken = new Set<string>();
  const heads = headsOf(layout);
  let before: number | undefined;
  return [...groups.values()].flatMap((group) => {
    const chosen = chosenInGroup(group, { heads, taken, before });
    before = chosen.at(-1)?.occurrence.segment.row ?? before;
    return chosen;
  });
}

/** Rows that parts of an item may be apart, where too few items tell how far they mostly are. */
const APART_ROWS = 4;
const ITEMS_MIN = 4;
const MOSTLY = 0.9;
/** Items that say the same of a member pick it, and do not read it beside them. */
const PICKED_MIN = 3;

/**
 * A small number, a year or two letters stand on many pages by chance. In an item of a list they count where they
 * stand as near the item's other values as in most of its fellows; else another place is taken, or none.
 */
function withoutChance(
  sought: readonly Sought[],
  chosen: readonly Chosen[],
  computed: ReadonlySet<string>,
): readonly Chosen[] {
  const inItems = chosen.filter(({ leaf }) => /\/\d+\//.test(leaf.path));
  const said = groupedBy(sought, ({ leaf }) => `${nameOf(leaf)} ${leaf.value}`);
  const isPicked = ({ leaf }: Pick<Chosen, 'leaf'>): boolean =>
    (said.get(`${nameOf(leaf)} ${leaf.value}`)?.length ?? 0) >= PICKED_MIN;
  const anchors = new Map<string, number[]>();
  for (const one of inItems)
    if (!isCommon(one.leaf) && one.occurrence.grade !== 'derived' && !isPicked(one))
      addTo(anchors, one.leaf.parent, one.occurrence.segment.row);
  const apart = ({ leaf, occurrence }: Pick<Chosen, 'leaf' | 'occurrence'>): number =>
    (anchors.get(leaf.parent) ?? []).reduce(
      (least, row) => Math.min(least, Math.abs(row - occurrence.segment.row)),
      Infinity,
    );
  const common = inItems.filter(({ leaf }) => isCommon(leaf));
  const limits = new Map<string, number>();
  for (const [member, all] of groupedBy(common, ({ leaf }) => memberOf(leaf)))
    limits.set(
      member,
      limitOf(all.filter((one) => anchors.has(one.leaf.parent) && !isPicked(one)).map(apart), all, computed),
    );
  const others = new Map(sought.map(({ leaf, occurrences }) => [leaf, occurrences]));
  const isJudged = new Set(common);
  return chosen.flatMap((one) => {
    if (!isJudged.has(one)) return [one];
    const limit = limits.get(memberOf(one.leaf)) ?? APART_ROWS;
    if (!anchors.has(one.leaf.parent)) return limit === 0 ? [] : [one];
    if (apart(one) <= limit) return [one];
    const near = others.get(one.leaf)?.find((occurrence) => apart({ leaf: one.leaf, occurrence }) <= limit);
    if (near !== undefined) return [{ ...one, occurrence: near }];
    return isPicked(one) ? [{ ...one, occurrence: { ...one.occurrence, grade: 'derived' } }] : [];
  });
}

const nameOf = ({ path }: Leaf): string => path.slice(path.lastIndexOf('/') + 1);

const isCommon = ({ value }: Leaf): boolean =>
  typeof value === 'number' || typeof value === 'string'
    ? /^(?:[+-]?\d{1,2}|(?:19|20)\d{2}|\p{L}{1,2})$/u.test(String(value).trim())
    : true;

/** A member as all items of its lists have it. */
export const memberOf = ({ path }: Leaf): string => path.replace(/\/\d+(?=\/)/g, '/*');

/** Rows that a member is apart from the rest of its item; a place in the list stands beside it, or is counted. */
function limitOf(
  distances: readonly number[],
  all: readonly Chosen[],
  computed: ReadonlySet<string>,
): number {
  if (all.filter(({ leaf }) => computed.has(leaf.path)).length * 2 > all.length) return 0;
  if (distances.length < ITEMS_MIN) return APART_ROWS;
  const sorted = [...distances].sort((a, b) => a - b);
  return Math.max(1, sorted[Math.ceil(sorted.length * MOSTLY) - 1] ?? APART_ROWS);
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
  const read =
    words.length === 0 ? 1 : words.reduce((sum, { confidence }) => sum + confidence, 0) / words.length;
  return Math.round(1000 * Math.max(0, Math.min(1, exactness * unique * read))) / 1000;
}

/** 0..1: how well what stands before, left of or above a place says a name. */
type Heads = (occurrence: Occurrence, label: readonly string[]) => number;

const LABEL_MAX = 80;
const ABOVE_ROWS = 4;
const ABOVE = 0.8;

function headsOf({ rows, segments }: Layout): Heads {
  const wordsOf = once(({ text }: Segment) => labelWords(text.slice(-LABEL_MAX)));
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
