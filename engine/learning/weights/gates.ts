import { documentFolds, layoutFolds, type Fold } from '../scoring/folds.ts';
import { asUnknown, fit, isKnown, layoutsOf, said, type Example, type Model } from '../rounds.ts';
import { added, f1, NONE } from '../scoring/scoring.ts';
import type { Counts } from '../../ports/documentTools.ts';
import { countsOf, type Target } from '../targets.ts';
import { followedFrom, tallied, tallyOf, type Attempt, type Sides } from './attempts.ts';
import { NEVER, type Gate } from './sides.ts';
import { opinionOf, optionsFor, type Following } from './leafModel.ts';
import { rightOptions } from './rightOptions.ts';
import { matched, type Match } from './templates.ts';
import { trustFrom, type Trust } from './trust.ts';

export interface Gated {
  readonly gates: ReadonlyMap<string, Gate>;
  /** How sure what leaves say is. */
  readonly trust: Trust;
  /** Rules and gated model on layouts left out; undefined where there is one layout alone. */
  readonly unseen: { readonly rules: Counts; readonly model: Counts } | undefined;
}

/** What the rules read rightly in all examples cannot become better; a leaf can in other documents. */
function learnable(targets: readonly Target[], examples: readonly Example[]): readonly Target[] {
  const wrong = targets.filter((target) => examples.some((example) => f1(rulesCounts(target, example)) < 1));
  return targets.filter(
    (target) => wrong.includes(target) || (wrong.length > 0 && target.node.kind === 'leaf'),
  );
}

const rulesCounts = (target: Target, { asRead, byRules }: Example): Counts =>
  countsOf(target, { expected: asRead.get(target.pointer), got: byRules.get(target.pointer) });

/** Documents that deciding the gates scores. */
export const gateCalls = (examples: readonly Example[]): number =>
  [...documentFolds(layoutsOf(examples), 0), ...layoutFolds(layoutsOf(examples))].reduce(
    (sum, { held }) => sum + held.length,
    0,
  );

/**
 * Decides for each target whether what is learned may speak, and how sure it must be: only where it was better
 * than the rules on documents left out. Yields after each target learned, and `true` after each document scored.
 */
export function* decideGates(
  examples: readonly Example[],
  all: readonly Target[],
  seed: number,
): Generator<boolean, Gated> {
  const targets = learnable(all, examples);
  const groups = layoutsOf(examples);
  const unseenFolds = layoutFolds(groups);
  const attempts: Attempt[] = [];
  for (const fold of documentFolds(groups, seed))
    attempts.push(...(yield* attemptsOn({ examples, targets, seed, fold, side: 'known' })));
  for (const fold of unseenFolds)
    attempts.push(...(yield* attemptsOn({ examples, targets, seed, fold, side: 'unseen' })));
  const trust = trustFrom(attempts.flatMap(({ trial }) => trial ?? []));
  const gates = new Map(
    targets.map(({ pointer }) => [
      pointer,
      followedFrom(sidesOf(attempts.filter((one) => one.pointer === pointer)), sidesOf(attempts), trust),
    ]),
  );
  const others = all.filter((target) => !targets.includes(target));
  const rest = examples
    .flatMap((example) => others.map((target) => rulesCounts(target, example)))
    .reduce(added, NONE);
  const unseen = unseenFolds.length === 0 ? undefined : unseenSums({ attempts, gates, trust }, rest);
  return { gates, trust, unseen };
}

interface Scored {
  readonly examples: readonly Example[];
  readonly targets: readonly Target[];
  readonly seed: number;
  readonly fold: Fold;
  readonly side: Attempt['side'];
}

function* attemptsOn({
  examples,
  targets,
  seed,
  fold,
  side,
}: Scored): Generator<boolean, readonly Attempt[]> {
  const at = (places: readonly number[]): readonly Example[] =>
    places.flatMap((place) => examples[place] ?? []);
  const steps = fit(at(fold.learn), targets, seed);
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) yield false;
  const attempts: Attempt[] = [];
  for (const example of at(fold.held)) {
    attempts.push(...attemptsAt(step.value, { example, targets, side }));
    yield true;
  }
  return attempts;
}

function attemptsAt(
  model: Model,
  { example, targets, side }: Pick<Scored, 'targets' | 'side'> & { readonly example: Example },
): readonly Attempt[] {
  const found = matched(model.templates, example.document.sightings);
  if (side === 'known' && !isKnown(found)) return [];
  const match = side === 'known' ? found : asUnknown(found);
  return targets.map((target) => attempt(model, target, { example, match, side }));
}

/** Where nothing holds a model back. */
const FREELY: Following = { from: 0, mayRefuse: true, trust: [] };

interface Held {
  readonly example: Example;
  readonly match: Match;
  readonly side: Attempt['side'];
}

function attempt(model: Model, target: Target, { example, match, side }: Held): Attempt {
  const { pointer, node } = target;
  const expected = example.asRead.get(pointer);
  const learned = model.learned.get(pointer);
  const opinion =
    node.kind === 'leaf' && learned?.kind === 'leaf'
      ? opinionOf(learned.model, { field: node.field, document: example.document, match })
      : undefined;
  const got = said(model, target, { ...example, match, following: FREELY });
  return tallied({
    pointer,
    side,
    expected,
    opinion,
    isThere:
      node.kind === 'leaf' && rightOptions(optionsFor(node.field, example.document), expected).length > 0,
    isOfLeaf: node.kind === 'leaf',
    rules: rulesCounts(target, example),
    model: countsOf(target, { expected, got }),
  });
}

const sidesOf = (attempts: readonly Attempt[]): Sides => ({
  known: attempts.filter(({ side }) => side === 'known'),
  unseen: attempts.filter(({ side }) => side === 'unseen'),
});

function unseenSums(
  { attempts, gates, trust }: { readonly attempts: readonly Attempt[] } & Pick<Gated, 'gates' | 'trust'>,
  rest: Counts,
): NonNullable<Gated['unseen']> {
  const sums = { rules: rest, model: rest };
  for (const one of attempts) {
    if (one.side !== 'unseen') continue;
    const { from } = gates.get(one.pointer)?.unseen ?? { from: NEVER };
    const { rules, model } = tallyOf(one, { from, mayRefuse: false, trust });
    sums.rules = added(sums.rules, rules);
    sums.model = added(sums.model, model);
  }
  return sums;
}
