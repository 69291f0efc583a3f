import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { type JsonObject, shapeOf } from '../../domain/kernel/json.ts';
import type { TrainingExample } from '../../domain/ports/trainer.ts';
import { misfit, type WorkProblem, workProblem } from './workProblem.ts';
import { documentIdOfDataset } from '../../domain/document.ts';
import type { CountRequest, PageCount } from './countPages.ts';
import type { Uploads } from './fetchUpload.ts';

/** Levels of objects and lists in what is expected: what a schema of the greatest depth describes. */
const DEPTH_MAX = 64;
/** Members and items of what is expected of one document. */
const VALUES_MAX = 20_000;

const TOO_DEEP = `is nested deeper than ${String(DEPTH_MAX)} levels`;
const TOO_MANY = `has more than ${String(VALUES_MAX)} values`;

/** With the example around it; and an empty list counts twice in a text. */
const TEXT_LIMITS = { depthMax: DEPTH_MAX + 1, valuesMax: 2 * VALUES_MAX + 2 };

/** The same of the JSON of an example, roughly, before it is parsed: half a million values take half a second. */
export const faultInExample = (text: string): string | undefined => {
  const shape = shapeOf(text, TEXT_LIMITS);
  if (shape === 'too_deep') return TOO_DEEP;
  return shape === 'too_many_values' ? TOO_MANY : undefined;
};

interface Place {
  readonly value: object;
  readonly depth: number;
}

/**
 * Why a value is more than a document can be expected to say; undefined: it is not. Nothing is called once a
 * level, and nothing is looked at beyond the limits.
 */
export const faultInExpected = (expected: object): string | undefined => {
  const open: Place[] = [{ value: expected, depth: 1 }];
  let values = 0;
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    if (place.depth > DEPTH_MAX) return TOO_DEEP;
    const { depth } = place;
    for (const value of Object.values(place.value) as readonly unknown[]) {
      values += 1;
      if (values > VALUES_MAX) return TOO_MANY;
      if (typeof value === 'object' && value !== null) open.push({ value, depth: depth + 1 });
    }
  }
  return undefined;
};

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

/** The examples of a dataset on the local disk, or the message that says which line is not an example. */
const datasetLines = async ({
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

/** The fewest examples of a job. */
const EXAMPLES_MIN = 2;

/** An example as a caller names it. */
interface NamedExample {
  readonly document_id?: string | undefined;
  readonly file_uri?: string | undefined;
  readonly expected: JsonObject;
}

/** Where examples are: in the request, in a dataset that was uploaded, or in a set. */
export type ExamplesReference =
  | { readonly examples: readonly NamedExample[] }
  | { readonly dataset_id: string }
  | { readonly set_id: string };

export interface TrainingExamplesDeps {
  readonly uploads: Uploads;
  readonly countPages: (request: CountRequest) => Promise<readonly PageCount[] | WorkProblem>;
  /** The examples of the latest version of a tenant's set. */
  readonly setExamples: (
    tenantId: string,
    setId: string,
  ) => Promise<readonly TrainingExample[] | WorkProblem>;
}

const datasetOf = async (
  { uploads }: TrainingExamplesDeps,
  tenant_id: string,
  datasetId: string,
): Promise<readonly NamedExample[] | WorkProblem> => {
  const document_id = documentIdOfDataset(datasetId);
  const unknown = () =>
    workProblem(
      'document_not_found',
      'There is no such dataset of this tenant. Use the dataset_id that presign gave.',
    );
  if (document_id === undefined) return unknown();
  const fetched = await uploads.fetch({ tenant_id, allTenants: false }, { document_id });
  if (fetched.kind === 'problem') return fetched.code === 'document_not_found' ? unknown() : fetched;
  try {
    if (fetched.document.kind !== 'dataset') return unknown();
    return await datasetLines(fetched.file);
  } finally {
    await fetched.file.discard();
  }
};

export const notUploadedDocument = (name: string): WorkProblem =>
  workProblem('document_not_found', `${name} of the examples is no uploaded document of this tenant.`);

const unusable = ({ status, document_id, file_uri }: PageCount): WorkProblem | undefined => {
  const name = document_id ?? file_uri ?? 'A document';
  if (status === 'not_found' || (status === 'ok' && file_uri === null)) return notUploadedDocument(name);
  if (status === 'not_uploaded')
    return workProblem('missing_file', `${name} of the examples has not been uploaded yet.`);
  if (status === 'unsupported')
    return workProblem('unsupported_file_type', `${name} of the examples cannot be read.`);
  return undefined;
};

const isProblem = (answer: readonly unknown[] | WorkProblem): answer is WorkProblem => 'kind' in answer;

const tooMuch = (named: readonly NamedExample[]): WorkProblem | undefined => {
  for (const [at, { expected }] of named.entries()) {
    const fault = faultInExpected(expected);
    if (fault !== undefined)
      return misfit(['body', 'examples', at, 'expected'], `What is expected ${fault}.`);
  }
  return undefined;
};

const atLeast = (count: number, least: number): WorkProblem | undefined =>
  count < least
    ? misfit(
        ['body', 'examples'],
        `At least ${String(least)} examples are needed; there are ${String(count)}.`,
      )
    : undefined;

/** Each with its document, or why one cannot be used. */
const withDocuments = (
  named: readonly NamedExample[],
  counts: readonly PageCount[],
): readonly TrainingExample[] | WorkProblem => {
  const examples: TrainingExample[] = [];
  for (const [at, count] of counts.entries()) {
    const problem = unusable(count);
    if (problem !== undefined) return problem;
    const expected = named[at]?.expected;
    if (count.document_id !== null && expected !== undefined)
      examples.push({ document_id: count.document_id, expected });
  }
  return examples;
};

const namedIn = (
  deps: TrainingExamplesDeps,
  tenantId: string,
  reference: ExamplesReference,
): Promise<readonly NamedExample[] | WorkProblem> => {
  if ('examples' in reference) return Promise.resolve(reference.examples);
  return 'set_id' in reference
    ? deps.setExamples(tenantId, reference.set_id)
    : datasetOf(deps, tenantId, reference.dataset_id);
};

/**
 * Examples, each with a document that was uploaded and can be read. Documents that were never used
 * are registered, so that they stay until they were read. `least`: how many there have to be.
 */
export const trainingExamples =
  (deps: TrainingExamplesDeps) =>
  async (
    asked: Omit<CountRequest, 'by' | 'documents'> & { readonly tenant_id: string; readonly least?: number },
    reference: ExamplesReference,
  ): Promise<readonly TrainingExample[] | WorkProblem> => {
    const { tenant_id, least = EXAMPLES_MIN, ...request } = asked;
    const named = await namedIn(deps, tenant_id, reference);
    if (isProblem(named)) return named;
    const refused = atLeast(named.length, least) ?? tooMuch(named);
    if (refused !== undefined) return refused;
    const documents = named.map(({ document_id, file_uri }) => ({ document_id, file_uri }));
    const by = { tenant_id, allTenants: false };
    const counts = await deps.countPages({ ...request, by, documents });
    return isProblem(counts) ? counts : withDocuments(named, counts);
  };
