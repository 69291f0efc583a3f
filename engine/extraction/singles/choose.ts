import { bestPairs } from '../../kernel/assignment.ts';
import { MIN_CONFIDENCE } from '../confidenceFloor.ts';
import type { Field } from '../fields/fields.ts';
import type { Finding } from '../finding.ts';

/** A field with all findings that may be its value. */
export interface Contender<F extends Finding> {
  readonly field: Field;
  readonly findings: readonly F[];
}

/** A finding for a field, and the place that it would take: no other field has one at the same place. */
export interface Wish<F extends Finding> {
  readonly field: Field;
  readonly finding: F;
  readonly place: string;
}

/** More fields than this that want the same places are served the surest first. */
const TOGETHER_MAX = 40;

/**
 * The best finding for each field, so that no two fields take the same place: of fields that compete, the
 * assignment with the highest sum of confidence.
 */
export function chosen<F extends Finding>(
  contenders: readonly Contender<F>[],
  placeOf: (field: Field, finding: F) => string,
): ReadonlyMap<string, F> {
  const wishes = contenders.map(({ field, findings }) =>
    bestByPlace(findings.map((finding) => ({ field, finding, place: placeOf(field, finding) }))),
  );
  const served = groupsOf(wishes).flatMap((group) =>
    group.length > TOGETHER_MAX ? inTurn(group.flat()) : together(group),
  );
  return new Map(served.map(({ field, finding }) => [field.pointer, finding]));
}

/** Of the findings at one place the surest. */
function bestByPlace<F extends Finding>(wishes: readonly Wish<F>[]): readonly Wish<F>[] {
  const best = new Map<string, Wish<F>>();
  for (const wish of wishes) {
    const known = best.get(wish.place);
    if (known === undefined || known.finding.confidence < wish.finding.confidence) best.set(wish.place, wish);
  }
  return [...best.values()];
}

/** What is too unsure to be told takes no place from what is told. */
const UNTOLD_SHARE = 0.01;
const worthOf = (finding: Finding | undefined): number => {
  const { confidence } = finding ?? { confidence: 0 };
  return confidence < MIN_CONFIDENCE ? UNTOLD_SHARE * confidence : confidence;
};

/** Each member of the group has the wishes of one field. */
function together<F extends Finding>(group: readonly (readonly Wish<F>[])[]): readonly Wish<F>[] {
  const places = [...new Set(group.flatMap((wishes) => wishes.map(({ place }) => place)))];
  const byPlace = group.map((wishes) => new Map(wishes.map((wish) => [wish.place, wish])));
  const weights = byPlace.map((own) => places.map((place) => worthOf(own.get(place)?.finding)));
  return bestPairs(weights).flatMap(([row, column]) => byPlace[row]?.get(places[column] ?? '') ?? []);
}

function inTurn<F extends Finding>(wishes: readonly Wish<F>[]): readonly Wish<F>[] {
  const [taken, served] = [new Set<string>(), new Map<Field, Wish<F>>()];
  for (const wish of [...wishes].sort((a, b) => b.finding.confidence - a.finding.confidence)) {
    if (served.has(wish.field) || taken.has(wish.place)) continue;
    served.set(wish.field, wish);
    taken.add(wish.place);
  }
  return [...served.values()];
}

/** The wishes of fields that some place connects, directly or through others. */
function groupsOf<F extends Finding>(
  all: readonly (readonly Wish<F>[])[],
): readonly (readonly (readonly Wish<F>[])[])[] {
  const leaders = all.map((_, i) => i);
  const leaderOf = (i: number): number => {
    let at = i;
    while (leaders[at] !== at) at = leaders[at] ?? at;
    return at;
  };
  const byPlace = new Map<string, number>();
  for (const [i, wishes] of all.entries())
    for (const { place } of wishes) {
      const other = byPlace.get(place);
      if (other === undefined) byPlace.set(place, i);
      else leaders[leaderOf(i)] = leaderOf(other);
    }
  const groups = new Map<number, (readonly Wish<F>[])[]>();
  for (const [i, wishes] of all.entries()) {
    const group = groups.get(leaderOf(i));
    if (group === undefined) groups.set(leaderOf(i), [wishes]);
    else group.push(wishes);
  }
  return [...groups.values()];
}
