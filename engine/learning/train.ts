import { lexiconVersion } from '../extraction/words/concepts.ts';
import type { Document } from '../document/document.ts';
import { canonicalJson, sha256 } from '../kernel/canonicalJson.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { LocalArtifact, TrainingReport } from '../ports/artifacts.ts';
import type { TrainingOptions, TrainingProgress } from '../ports/training.ts';
import { ENGINE_VERSION, schemaHash } from './artifact.ts';
import { validationFolds } from './scoring/folds.ts';
import { isSpeaking } from './weights/sides.ts';
import { decideGates, gateCalls, type Gated } from './weights/gates.ts';
import { partsOf } from './weights/packing.ts';
import { prepared } from './prepared.ts';
import { reportOf, type Held } from './report.ts';
import { exampleOf, fit, isKnown, layoutsOf, said, type Example, type Model } from './rounds.ts';
import { targetsOf, type Target } from './targets.ts';
import { matched } from './weights/templates.ts';

export interface TrainingExample {
  readonly document: Document;
  readonly expected: JsonObject;
}

export interface Trained {
  readonly artifact: LocalArtifact;
  readonly report: TrainingReport;
}

/** So few examples are not split into those learned from and those scored. */
export const EXAMPLES_MIN = 2;

/**
 * Learns from examples; a generator that yields progress between steps of some ten milliseconds, so that who
 * drives it can tell it and can stop. Pure: the same examples, schema, seed and split give the same bytes.
 * Throws RangeError for fewer than two examples, or a schema without properties.
 */
export function* trainLocal(
  examples: readonly TrainingExample[],
  schema: JsonObject,
  { seed, validationSplit }: TrainingOptions,
): Generator<TrainingProgress, Trained> {
  if (examples.length < EXAMPLES_MIN)
    throw new RangeError(
      `Give at least ${EXAMPLES_MIN} examples: ${examples.length} cannot be learned from and scored.`,
    );
  const ready: Example[] = [];
  const targets: Target[] = [];
  for (const { document, expected } of examples) {
    const one = prepared(document, schema);
    if (one === undefined) throw new RangeError('The schema has no properties: there is nothing to learn.');
    if (targets.length === 0) targets.push(...targetsOf(one.reading.tree));
    ready.push(exampleOf(one, expected, targets));
    yield { metric_calls: 0, max_metric_calls: 2 * examples.length };
  }
  const work = { targets, seed, validationSplit };
  const { metrics, gated, model } = yield* counted(ready, work);
  const artifact: LocalArtifact = {
    kind: 'local',
    engine_version: ENGINE_VERSION,
    lexicon_version: lexiconVersion(),
    schema_hash: schemaHash(schema),
    seed,
    examples: examples.map(digestOf),
    templates: model.templates.map(({ marks }) => ({ marks: marks.map(([hash, x]) => [hash, x]) })),
    ...partsOf(model, targets, gated.gates),
    trust: [...gated.trust],
    metrics,
  };
  return { artifact, report: metrics };
}

/** Digest of an example: its text and what was expected, neither of which can be had back. */
const digestOf = ({ document, expected }: TrainingExample): string =>
  sha256(
    `${canonicalJson(expected)}\n${document.pages.flatMap(({ lines }) => lines.map(({ text }) => text)).join('\n')}`,
  );

interface Work {
  readonly targets: readonly Target[];
  readonly seed: number;
  readonly validationSplit: number;
}

interface Learnt {
  readonly metrics: TrainingReport;
  readonly gated: Gated;
  readonly model: Model;
}

/** Scores on documents left out, then learns from all. */
function* counted(examples: readonly Example[], work: Work): Generator<TrainingProgress, Learnt> {
  const folds = validationFolds(layoutsOf(examples), work.validationSplit, work.seed);
  const at = (places: readonly number[]): readonly Example[] =>
    places.flatMap((place) => examples[place] ?? []);
  const max_metric_calls =
    gateCalls(examples) + folds.reduce((sum, { learn, held }) => sum + gateCalls(at(learn)) + held.length, 0);
  let metric_calls = 0;
  const told = function* <Result>(steps: Generator<boolean, Result>): Generator<TrainingProgress, Result> {
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done === true) return step.value;
      if (step.value) metric_calls += 1;
      yield { metric_calls, max_metric_calls };
    }
  };
  const held: Held[] = [];
  for (const fold of folds) {
    const { gated, model } = yield* told(learned(at(fold.learn), work));
    held.push(...(yield* told(scored(at(fold.held), work.targets, { gated, model }))));
  }
  const last = yield* told(learned(examples, work));
  const metrics = reportOf(held, last.gated, { folds: folds.length, seed: work.seed });
  yield { metric_calls: max_metric_calls, max_metric_calls };
  return { ...last, metrics };
}

/** Decides where learning helps, and learns that from all of the examples. */
function* learned(
  examples: readonly Example[],
  { targets, seed }: Work,
): Generator<boolean, { readonly gated: Gated; readonly model: Model }> {
  const gated = yield* decideGates(examples, targets, seed);
  const kept = targets.filter(({ pointer }) => {
    const gate = gated.gates.get(pointer);
    return gate !== undefined && (isSpeaking(gate.known) || isSpeaking(gate.unseen));
  });
  const steps = fit(examples, kept, seed);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return { gated, model: step.value };
    yield false;
  }
}

/** What rules and model say of documents that were held out. */
function* scored(
  examples: readonly Example[],
  targets: readonly Target[],
  { gated, model }: { readonly gated: Gated; readonly model: Model },
): Generator<boolean, readonly Held[]> {
  const held: Held[] = [];
  for (const example of examples) {
    const match = matched(model.templates, example.document.sightings);
    for (const target of targets) {
      const rules = example.byRules.get(target.pointer);
      const side = gated.gates.get(target.pointer)?.[isKnown(match) ? 'known' : 'unseen'];
      const got =
        side !== undefined && isSpeaking(side)
          ? said(model, target, { ...example, match, following: { ...side, trust: gated.trust } })
          : rules;
      held.push({ example, target, rules, got });
    }
    yield true;
  }
  return held;
}
