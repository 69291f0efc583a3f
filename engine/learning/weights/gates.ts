import { documentFolds, layoutFolds, type Fold } from '../scoring/folds.ts';
import { asUnknown, fit, isKnown, layoutsOf, said, type Example, type Model } from '../rounds.ts';
import { added, f1, NONE, type Counts } from '../scoring/scoring.ts';
import { countsOf, valueIn, type Target } from '../targets.ts';
import { matched } from './templates.ts';

/** Where a learned target speaks: in layouts of the examples, and in others. Elsewhere the rules do. */
export interface Gate {
  readonly known: boolean;
  readonly unseen: boolean;
}

/** Rules and model side by side on documents that the model did not learn from. */
interface Tally {
  rules: Counts;
  model: Counts;
  gains: number;
  losses: number;
}

/** For each target what was counted, on known layouts and on others. */
type Tallies = ReadonlyMap<string, { readonly known: Tally; readonly unseen: Tally }>;

export interface Gated {
  readonly gates: ReadonlyMap<string, Gate>;
  /** Rules and gated model on layouts left out; undefined where there is one layout alone. */
  readonly unseen: { readonly rules: Counts; readonly model: Counts } | undefined;
}

const fresh = (): Tally => ({ rules: NONE, model: NONE, gains: 0, losses: 0 });

/** Targets where the rules leave nothing to learn cannot become better. */
const learnable = (targets: readonly Target[], examples: readonly Example[]): readonly Target[] =>
  targets.filter((target) => examples.some((example) => f1(rulesCounts(target, example)) < 1));

const rulesCounts = (target: Target, { expected, byRules }: Example): Counts =>
  countsOf(target, { expected: valueIn(expected, target.pointer), got: byRules.get(target.pointer) });

/** Documents that deciding the gates scores. */
export const gateCalls = (examples: readonly Example[]): number =>
  [...documentFolds(layoutsOf(examples), 0), ...layoutFolds(layoutsOf(examples))].reduce(
    (sum, { held }) => sum + held.length,
    0,
  );

/**
 * Decides for each target whether what is learned may speak: only where it was better than the rules on
 * documents left out. On other layouts it must have won at least two documents and lost none. Yields after
 * each target learned, and `true` after each document scored.
 */
export function* decideGates(
  examples: readonly Example[],
  all: readonly Target[],
  seed: number,
): Generator<boolean, Gated> {
  const targets = learnable(all, examples);
  const groups = layoutsOf(examples);
  const tallies = new Map(targets.map(({ pointer }) => [pointer, { known: fresh(), unseen: fresh() }]));
  const unseenFolds = layoutFolds(groups);
  for (const fold of documentFolds(groups, seed))
    yield* scoreFold({ examples, targets, seed, fold, side: 'known' }, tallies);
  for (const fold of unseenFolds)
    yield* scoreFold({ examples, targets, seed, fold, side: 'unseen' }, tallies);
  const gates = new Map([...tallies].map(([pointer, tally]) => [pointer, gateOf(tally)]));
  const others = all.filter((target) => !targets.includes(target));
  const rest = examples
    .flatMap((example) => others.map((target) => rulesCounts(target, example)))
    .reduce(added, NONE);
  const unseen = unseenFolds.length === 0 ? undefined : unseenSums(tallies, gates, rest);
  return { gates, unseen };
}

interface Scored {
  readonly examples: readonly Example[];
  readonly targets: readonly Target[];
  readonly seed: number;
  readonly fold: Fold;
  readonly side: 'known' | 'unseen';
}

function* scoreFold(
  { examples, targets, seed, fold, side }: Scored,
  tallies: Tallies,
): Generator<boolean, void> {
  const at = (places: readonly number[]): readonly Example[] =>
    places.flatMap((place) => examples[place] ?? []);
  const steps = fit(at(fold.learn), targets, seed);
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) yield false;
  for (const example of at(fold.held)) {
    tallyUp(step.value, { example, targets, side }, tallies);
    yield true;
  }
}

function tallyUp(
  model: Model,
  { example, targets, side }: Pick<Scored, 'targets' | 'side'> & { readonly example: Example },
  tallies: Tallies,
): void {
  const found = matched(model.templates, example.document.sightings);
  if (side === 'known' && !isKnown(found)) return;
  const match = side === 'known' ? found : asUnknown(found);
  for (const target of targets) {
    const tally = tallies.get(target.pointer)?.[side];
    if (tally === undefined) continue;
    const expected = valueIn(example.expected, target.pointer);
    const rules = rulesCounts(target, example);
    const learned = countsOf(target, { expected, got: said(model, target, { ...example, match }) });
    tally.rules = added(tally.rules, rules);
    tally.model = added(tally.model, learned);
    if (f1(learned) > f1(rules)) tally.gains += 1;
    if (f1(learned) < f1(rules)) tally.losses += 1;
  }
}

const UNSEEN_GAINS_MIN = 2;

const gateOf = ({ known, unseen }: { readonly known: Tally; readonly unseen: Tally }): Gate => ({
  known: f1(known.model) > f1(known.rules) && known.gains > known.losses,
  unseen: f1(unseen.model) > f1(unseen.rules) && unseen.gains >= UNSEEN_GAINS_MIN && unseen.losses === 0,
});

function unseenSums(
  tallies: Tallies,
  gates: ReadonlyMap<string, Gate>,
  rest: Counts,
): NonNullable<Gated['unseen']> {
  const sums = { rules: rest, model: rest };
  for (const [pointer, { unseen }] of tallies) {
    sums.rules = added(sums.rules, unseen.rules);
    sums.model = added(sums.model, gates.get(pointer)?.unseen === true ? unseen.model : unseen.rules);
  }
  return sums;
}
