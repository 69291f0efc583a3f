import type { Command } from 'commander';
import type { JsonObject } from '../../../domain/kernel/json.ts';
import { extract } from '@quire/engine/extraction/extract';
import type { LocalArtifact } from '@quire/engine/learning/artifact';
import { extractWith } from '@quire/engine/learning/extractWith';
import { added, compared, f1, NONE, type Counts } from '@quire/engine/learning/scoring/scoring';
import type { TrainingExample } from '@quire/engine/learning/train';
import { jobsOption, withDocumentParts } from './documentWork.ts';
import { extractSchema } from './extractSchema.ts';
import { command, type Output } from '../output.ts';
import { reportTable } from './train.ts';
import { artifactAt, trainingExamples } from './trainingFiles.ts';

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
