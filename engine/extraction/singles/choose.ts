import type { Word } from '../../document/document.ts';
import { bestPairs } from '../../kernel/assignment.ts';
import type { Field } from '../fields/fields.ts';
import type { Finding } from '../finding.ts';

/** A field with all findings that may be its value. */
export interface Contender<F extends Finding> {
  readonly field: Field;
  readonly findings: readonly F[];
}

/** More fields than this that want the same words are served the surest first. */
const TOGETHER_MAX = 40;

/**
 * The best finding for each field, so that no two fields take the same words: of fields that compete, the
 * assignment with the highest sum of confidence.
 */
export function chosen<F extends Finding>(contenders: readonly Contender<F>[]): ReadonlyMap<string, F> {
  const found = new Map<string, F>();
  for (const group of groupsOf(contenders)) {
    for (const [{ field }, finding] of group.length === 1 ? alone(group) : together(group))
      found.set(field.pointer, finding);
  }
  return found;
}

type Choice<F extends Finding> = readonly [Contender<F>, F];

const alone = <F extends Finding>([only]: readonly Contender<F>[]): readonly Choice<F>[] => {
  const best = only === undefined ? undefined : surest(only.findings);
  return only === undefined || best === undefined ? [] : [[only, best]];
};

const surest = <F extends Finding>(findings: readonly F[]): F | undefined =>
  findings.reduce<F | undefined>(
    (best, one) => (best === undefined || one.confidence > best.confidence ? one : best),
    undefined,
  );

/** Each spot is told by its first word: ranges that share words nearly always begin together. */
function together<F extends Finding>(group: readonly Contender<F>[]): readonly Choice<F>[] {
  if (group.length > TOGETHER_MAX) return inTurn(group);
  const spots = [...new Set(group.flatMap(({ findings }) => findings.flatMap(({ words }) => words[0] ?? [])))];
  const placeOf = new Map(spots.map((word, place) => [word, place]));
  const best = group.map(({ findings }) => {
    const bySpot = new Map<number, F>();
    for (const finding of findings) {
      const place = placeOf.get(finding.words[0] as Word);
      if (place === undefined) continue;
      const known = bySpot.get(place);
      if (known === undefined || known.confidence < finding.confidence) bySpot.set(place, finding);
    }
    return bySpot;
  });
  const weights = best.map((bySpot) => spots.map((_, place) => bySpot.get(place)?.confidence ?? 0));
  return bestPairs(weights).flatMap(([row, column]): readonly Choice<F>[] => {
    const [contender, finding] = [group[row], best[row]?.get(column)];
    return contender === undefined || finding === undefined ? [] : [[contender, finding]];
  });
}

function inTurn<F extends Finding>(group: readonly Contender<F>[]): readonly Choice<F>[] {
  const taken = new Set<Word>();
  const wishes = group
    .flatMap((contender) => contender.findings.map((finding): Choice<F> => [contender, finding]))
    .sort(([, a], [, b]) => b.confidence - a.confidence);
  const served = new Map<Contender<F>, F>();
  for (const [contender, finding] of wishes) {
    const [first] = finding.words;
    if (served.has(contender) || (first !== undefined && taken.has(first))) continue;
    served.set(contender, finding);
    if (first !== undefined) taken.add(first);
  }
  return [...served];
}

/** Fields that some word connects, directly or through others. */
function groupsOf<F extends Finding>(
  contenders: readonly Contender<F>[],
): readonly (readonly Contender<F>[])[] {
  const leaders = contenders.map((_, i) => i);
  const leaderOf = (i: number): number => {
    let at = i;
    while (leaders[at] !== at) at = leaders[at] = leaders[leaders[at] ?? at] ?? at;
    return at;
  };
  const byWord = new Map<Word, number>();
  for (const [i, { findings }] of contenders.entries())
    for (const { words } of findings) {
      const [first] = words;
      if (first === undefined) continue;
      const other = byWord.get(first);
      if (other === undefined) byWord.set(first, i);
      else leaders[leaderOf(i)] = leaderOf(other);
    }
  const groups = new Map<number, Contender<F>[]>();
  for (const [i, contender] of contenders.entries()) {
    const known = groups.get(leaderOf(i));
    if (known === undefined) groups.set(leaderOf(i), [contender]);
    else known.push(contender);
  }
  return [...groups.values()];
}
