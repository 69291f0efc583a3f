import { around, heightOf, widthOf, type Rule } from '../content.ts';
import { withHeadAbove } from './headAbove.ts';
import { withBodies } from './headStrips.ts';
import type { RuledRegion } from './ruledRegion.ts';
import { stackedRegions } from './stackedRegions.ts';
import { withLooseRules, type WordsByHeight } from './looseRules.ts';

/** Lines that end this near to each other touch. */
const TOUCH = 3;
/** Shorter lines are strokes of drawings or of letters. */
const SHORT = 6;

const isHorizontal = (rule: Rule): boolean => widthOf(rule) >= heightOf(rule);

/** The ruled regions of a page, by the lines that touch each other. */
export function ruledRegions(rules: readonly Rule[], words: WordsByHeight): readonly RuledRegion[] {
  const horizontal = joined(
    rules.filter((rule) => isHorizontal(rule) && widthOf(rule) >= SHORT),
    0,
  );
  const vertical = joined(
    rules.filter((rule) => !isHorizontal(rule) && heightOf(rule) >= SHORT),
    1,
  );
  const all = [...horizontal, ...vertical];
  const group = all.map((_, index) => index);
  const root = (index: number): number => {
    let at = index;
    while (group[at] !== at) at = group[at] ?? at;
    return at;
  };
  all.forEach((rule, i) => {
    for (let j = i + 1; j < all.length; j += 1) {
      const other = all[j];
      if (other !== undefined && touch(rule, other)) group[root(j)] = root(i);
    }
  });
  const regions = new Map<number, Rule[]>();
  all.forEach((rule, index) => {
    const key = root(index);
    const members = regions.get(key);
    if (members === undefined) regions.set(key, [rule]);
    else members.push(rule);
  });
  const tables = withLooseRules([...regions.values()], words).flatMap((members) =>
    stackedRegions(
      {
        box: around(members),
        horizontal: members.filter(isHorizontal).sort((a, b) => a[1] - b[1]),
        vertical: members.filter((rule) => !isHorizontal(rule)).sort((a, b) => a[0] - b[0]),
      },
      words,
    ),
  );
  return withBodies(tables, words).map((region) => withHeadAbove(region, words));
}

const touch = (a: Rule, b: Rule): boolean =>
  a[0] <= b[2] + TOUCH && b[0] <= a[2] + TOUCH && a[1] <= b[3] + TOUCH && b[1] <= a[3] + TOUCH;

/** Pieces of one line are one line. `axis` 0: horizontal, 1: vertical. */
function joined(rules: readonly Rule[], axis: 0 | 1): readonly Rule[] {
  const across = axis === 0 ? 1 : 0;
  const sorted = [...rules].sort((a, b) => a[across] - b[across] || a[axis] - b[axis]);
  const kept: Rule[] = [];
  for (const rule of sorted) {
    const index = lastJoined(kept, rule, axis);
    const other = kept[index];
    if (other === undefined) kept.push(rule);
    else kept[index] = around([other, rule]);
  }
  return kept;
}

/** Points that pieces of one line may lie off each other. */
const ONE_LINE = 1.5;

/** The last of the lines kept so far that a piece goes on with; -1 where none is. `kept` rises across the axis. */
function lastJoined(kept: readonly Rule[], rule: Rule, axis: 0 | 1): number {
  const across = axis === 0 ? 1 : 0;
  for (let index = kept.length - 1; index >= 0; index -= 1) {
    const other = kept[index];
    if (other === undefined || rule[across] - other[across] > ONE_LINE) return -1;
    const ends = axis === 0 ? ([other[2], rule[2]] as const) : ([other[3], rule[3]] as const);
    if (rule[axis] <= ends[0] + TOUCH && other[axis] <= ends[1] + TOUCH) return index;
  }
  return -1;
}

/** Places along an axis without those that repeat another. */
export function distinctPlaces(places: readonly number[], near = TOUCH): readonly number[] {
  const kept: number[] = [];
  for (const place of [...places].sort((a, b) => a - b))
    if (kept.length === 0 || place - (kept.at(-1) ?? 0) > near) kept.push(place);
  return kept;
}
