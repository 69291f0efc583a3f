import { writeFile } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { artifactText } from '@quire/engine/learning/artifact';
import type { LocalArtifact, TrainingReport } from '@quire/engine/ports/artifacts';
import { EXAMPLES_MIN, type Trained, type TrainingExample, trainLocal } from '@quire/engine/learning/train';
import { extract } from '@quire/engine/extraction/extract';
import { extractWith } from '@quire/engine/learning/extractWith';
import { added, compared, f1, NONE } from '@quire/engine/learning/scoring/scoring';
import type { Counts } from '@quire/engine/ports/documentTools';
import { artifactAt, extractSchema, jobsOption, trainingExamples, withDocumentParts } from './documentRun.ts';
import { bar, command, type Output, table } from './terminal.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';

interface TrainOptions {
  readonly schema: string;
  readonly out: string;
  readonly seed: number;
  readonly validationSplit: number;
  readonly jobs?: number;
}

const SEED_MAX = 2_147_483_647;
const SPLIT_MAX = 0.5;

const seedOption = (text: string): number => {
  const seed = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (!(seed <= SEED_MAX))
    throw new InvalidArgumentError(`Give a whole number from 0 to ${String(SEED_MAX)}.`);
  return seed;
};

const splitOption = (text: string): number => {
  const share = /^(?:\d+(?:\.\d+)?|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (!(share <= SPLIT_MAX)) throw new InvalidArgumentError(`Give a number from 0 to ${String(SPLIT_MAX)}.`);
  return share;
};

/** Drives the steps of training between turns of the event loop; undefined when stopped. */
const driven = async (
  steps: ReturnType<typeof trainLocal>,
  { note, isTerminal, signal }: Output,
): Promise<Trained | undefined> => {
  for (;;) {
    const step = steps.next();
    if (isTerminal) note('\r\u001b[K');
    if (step.done === true) return step.value;
    const { metric_calls: done, max_metric_calls: all } = step.value;
    if (isTerminal) note(`${bar(done / all)} ${String(done)} of ${String(all)} documents scored`);
    await nextTurn();
    if (signal.aborted) return undefined;
  }
};

const shown = (score: number): string => score.toFixed(3);

/** F1 before and after, for each path and over all. */
const reportTable = ({
  per_field,
  baseline_score,
  best_score,
}: Pick<TrainingReport, 'per_field' | 'baseline_score' | 'best_score'>): string =>
  table(
    ['field', 'untrained', 'trained'],
    [
      ...per_field.map(({ path, baseline, best }) => [path, shown(baseline), shown(best)]),
      ['all', shown(baseline_score), shown(best_score)],
    ],
  );

const verdict = ({
  better,
  confidence_interval: { low, high },
  validation,
  unseen_templates: unseen,
}: TrainingReport): string =>
  [
    `Scored on ${String(validation.documents)} documents that were left out; 95 % interval ` +
      `${shown(low)} to ${shown(high)}.`,
    unseen === null
      ? 'All examples have one layout: other layouts are read as before.'
      : `On layouts left out: ${shown(unseen.baseline)} untrained, ${shown(unseen.best)} trained.`,
    better
      ? 'The artifact is better than no training.'
      : 'The artifact is not better than no training: give more examples.',
    '',
  ].join('\n');

const train = async (output: Output, folder: string, options: TrainOptions): Promise<void> =>
  withDocumentParts(options.jobs, async (parts) => {
    const { signal } = output;
    const schema = await extractSchema(options.schema, parts.schemas, signal);
    const examples = await trainingExamples({ folder, least: EXAMPLES_MIN, parts }, output);
    if (signal.aborted) return;
    const { seed, validationSplit } = options;
    const trained = await driven(trainLocal(examples, schema, { seed, validationSplit }), output);
    if (trained === undefined) return;
    await writeFile(options.out, `${artifactText(trained.artifact)}\n`);
    await output.out(reportTable(trained.report));
    output.note(verdict(trained.report));
  });

const EXAMPLES = `
Put the correct values beside each document: invoice.pdf and invoice.expected.json (or
invoice.pdf.expected.json), an object as the schema describes it. From two examples on; ten of each
layout are a good start. The same examples and seed give the same artifact.

Examples:
  quire train examples/ --schema invoice.json --out invoice.artifact.json
  quire eval others/ --schema invoice.json --artifact invoice.artifact.json`;

/** `quire train`. */
export const addTrain = (program: Command): void => {
  program
    .command('train')
    .argument('<folder>', 'documents, each with a file of its correct values')
    .description('teach the local extractor by examples, without a service')
    .requiredOption('--schema <file>', 'the JSON Schema of the data; - reads it from stdin')
    .option('--out <file>', 'where the artifact is written', 'artifact.json')
    .option('--seed <number>', 'seed of the random choices', seedOption, 0)
    .option(
      '--validation-split <share>',
      'share that is held out for the score, from 30 examples on',
      splitOption,
      0.2,
    )
    .option('--jobs <number>', 'documents read at the same time (default: one a core)', jobsOption)
    .addHelpText('after', EXAMPLES)
    .action(command(train));
};

interface EvalOptions {
  readonly schema: string;
  readonly artifact: string;
  readonly jobs?: number;
}

/** Counts by path over documents. */
const scored = (
  examples: readonly TrainingExample[],
  read: (example: TrainingExample) => JsonObject,
): ReadonlyMap<string, Counts> => {
  const paths = new Map<string, Counts>();
  for (const example of examples)
    compared({ expected: example.expected, got: read(example) }, '', (path, counts) => {
      paths.set(path, added(paths.get(path) ?? NONE, counts));
    });
  return paths;
};

const all = (paths: ReadonlyMap<string, Counts>): number => f1([...paths.values()].reduce(added, NONE));

/** F1 of the rules and of an artifact on documents, for each path and over all. */
const evaluated = (examples: readonly TrainingExample[], schema: JsonObject, artifact: LocalArtifact) => {
  const rules = scored(examples, ({ document }) => extract(document, schema).value);
  const learned = scored(examples, ({ document }) => extractWith(artifact, document, schema).value);
  return {
    baseline_score: all(rules),
    best_score: all(learned),
    per_field: [...new Set([...rules.keys(), ...learned.keys()])].sort().map((path) => ({
      path,
      baseline: f1(rules.get(path) ?? NONE),
      best: f1(learned.get(path) ?? NONE),
    })),
  };
};

const evaluate = async (output: Output, folder: string, options: EvalOptions): Promise<void> =>
  withDocumentParts(options.jobs, async (parts) => {
    const schema = await extractSchema(options.schema, parts.schemas, output.signal);
    const artifact = await artifactAt(options.artifact);
    const examples = await trainingExamples({ folder, least: 1, parts }, output);
    if (!output.signal.aborted) await output.out(reportTable(evaluated(examples, schema, artifact)));
  });

/** `quire eval`. */
export const addEval = (program: Command): void => {
  program
    .command('eval')
    .argument('<folder>', 'documents, each with a file of its correct values')
    .description('score an artifact on documents, compared with the extractor without it')
    .requiredOption('--schema <file>', 'the JSON Schema of the data; - reads it from stdin')
    .requiredOption('--artifact <file>', 'what quire train wrote')
    .option('--jobs <number>', 'documents read at the same time (default: one a core)', jobsOption)
    .action(command(evaluate));
};
