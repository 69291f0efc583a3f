import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { JsonObject } from '../../../domain/kernel/json.ts';
import type { TrainingExample } from '../../../domain/ports/trainer.ts';
import { faultInExample, faultInExpected } from './expectedBudget.ts';
import { misfit, type WorkProblem } from '../work/workProblem.ts';

/** Most examples of one job. */
const EXAMPLES_MAX = 1_000;
/** Of the whole file: it is read and written again by the main thread, which takes 10 ms for a megabyte. */
const DATASET_BYTES_MAX = 4_194_304;

const datasetLine = z.strictObject({
  document_id: z.string().min(1).max(100),
  expected: z.custom<JsonObject>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  ),
});

const wrongDataset = (detail: string): WorkProblem => misfit(['body', 'dataset_id'], detail);

const lineOf = (text: string): TrainingExample | string => {
  const tooMuch = faultInExample(text);
  if (tooMuch !== undefined) return `has an "expected" that ${tooMuch}`;
  try {
    const { document_id, expected } = datasetLine.parse(JSON.parse(text));
    const fault = faultInExpected(expected);
    return fault === undefined ? { document_id, expected } : `has an "expected" that ${fault}`;
  } catch {
    return 'is not {"document_id", "expected"}';
  }
};

/** The examples of a dataset on the local disk, or the sentence that says which line is none. */
export const datasetLines = async ({
  path,
  bytes,
}: {
  readonly path: string;
  readonly bytes: number;
}): Promise<readonly TrainingExample[] | WorkProblem> => {
  if (bytes > DATASET_BYTES_MAX)
    return wrongDataset(
      `The dataset has ${String(bytes)} bytes; at most ${String(DATASET_BYTES_MAX)} are read.`,
    );
  const examples: TrainingExample[] = [];
  let line = 0;
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    line += 1;
    if (text.trim() === '') continue;
    const example = lineOf(text);
    if (typeof example === 'string') return wrongDataset(`Line ${String(line)} of the dataset ${example}.`);
    examples.push(example);
    if (examples.length > EXAMPLES_MAX)
      return wrongDataset(`The dataset has more than ${String(EXAMPLES_MAX)} examples.`);
  }
  return examples;
};
