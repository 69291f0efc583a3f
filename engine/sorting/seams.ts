import { logistic, scoring } from '../reader/trees.ts';
import type { PageFacts } from './pageFacts.ts';
import type { PageMark } from './pageMarks.ts';
import { type Seam, seamFeatures } from './seamFeatures.ts';
import weights from './seams.json' with { type: 'json' };

const score = scoring(weights.trees);
const NAMES: readonly string[] = weights.names;

const rowOf = (features: Readonly<Record<string, number>>): Float32Array =>
  Float32Array.from(NAMES, (name) => features[name] ?? 0);

/** Pages before a seam that are looked at. */
const EARLIER = 4;

/** How many pages have a word. */
export function spreadOf(pages: readonly PageFacts[]): ReadonlyMap<string, number> {
  const spread = new Map<string, number>();
  for (const { words } of pages)
    for (const word of words.keys()) spread.set(word, (spread.get(word) ?? 0) + 1);
  return spread;
}

/** The seams between pages with something on them; a blank page belongs to what is before it. */
export function seamsOf(pages: readonly PageFacts[]): readonly Seam[] {
  const printed = pages.filter(({ count, names }) => count > 0 || names.size > 0);
  const spread = spreadOf(printed);
  return printed.slice(1).map((after, at) => ({
    before: printed[at] ?? after,
    after,
    earlier: printed.slice(Math.max(0, at - EARLIER), at).reverse(),
    later: printed[at + 2],
    spread,
    pages: printed.length,
    hasBlank: pages.some(({ page }) => page > (printed[at]?.page ?? 0) && page < after.page),
  }));
}

/** Pages that say which they are of how many leave little doubt. */
const STATED = { begins: 0.95, goesOn: 0.03 };

/** The next number of the same total. */
const isNextOf = (a: PageMark, b: PageMark): boolean =>
  a.of !== null && a.of === b.of && a.number + 1 === b.number;

/** What the numbers of the two pages say for themselves; undefined: not enough. */
function stated({ before: { mark: a }, after: { mark: b } }: Seam): keyof typeof STATED | undefined {
  if (b === undefined || !b.isSaid) return undefined;
  if (b.number === 1) return b.of !== null || a?.isSaid === true ? 'begins' : undefined;
  return a !== undefined && isNextOf(a, b) ? 'goesOn' : undefined;
}

/** How surely another document begins after a seam, 0..1. */
export function chanceOf(seam: Seam): number {
  const chance = logistic(score(rowOf(seamFeatures(seam))));
  const said = stated(seam);
  if (said === 'begins') return Math.max(chance, STATED.begins);
  return said === 'goesOn' ? Math.min(chance, STATED.goesOn) : chance;
}

/** Less than that, in logits, says nothing. */
const TOLD_MIN = 0.15;

/** The names of the features that say that another document begins, the strongest first. */
export function toldBy(seam: Seam): readonly string[] {
  const row = rowOf(seamFeatures(seam));
  const odds = score(row);
  const told = NAMES.flatMap((name, at) => {
    const value = row[at] ?? 0;
    if (value === 0) return [];
    row[at] = 0;
    const without = score(row);
    row[at] = value;
    return odds - without > TOLD_MIN ? [{ name, weight: odds - without }] : [];
  });
  return told.sort((a, b) => b.weight - a.weight || (a.name < b.name ? -1 : 1)).map(({ name }) => name);
}
