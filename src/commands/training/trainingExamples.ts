import { documentIdOfDataset } from '../../../domain/document.ts';
import type { JsonObject } from '../../../domain/kernel/json.ts';
import type { TrainingExample } from '../../../domain/ports/trainer.ts';
import { datasetLines } from './datasetLines.ts';
import { faultInExpected } from './expectedBudget.ts';
import type { CountRequest, PageCount } from '../work/countPages.ts';
import type { Uploads } from '../uploads/uploads.ts';
import { misfit, workProblem, type WorkProblem } from '../work/workProblem.ts';

export const EXAMPLES_MIN = 2;

/** An example as a caller names it. */
interface NamedExample {
  readonly document_id?: string | undefined;
  readonly file_uri?: string | undefined;
  readonly expected: JsonObject;
}

/** Where a job's examples are: in the request, or in a dataset that was uploaded. */
export type ExamplesReference =
  { readonly examples: readonly NamedExample[] } | { readonly dataset_id: string };

export interface TrainingExamplesDeps {
  readonly uploads: Uploads;
  readonly countPages: (request: CountRequest) => Promise<readonly PageCount[] | WorkProblem>;
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

const atLeast = (count: number): WorkProblem | undefined =>
  count < EXAMPLES_MIN
    ? misfit(['body', 'examples'], `A job learns from at least ${String(EXAMPLES_MIN)} examples.`)
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

/**
 * A job's examples, each with a document that was uploaded and can be read. Documents that were never used
 * are registered, so that they stay until the job has read them.
 */
export const trainingExamples =
  (deps: TrainingExamplesDeps) =>
  async (
    asked: Omit<CountRequest, 'by' | 'documents'> & { readonly tenant_id: string },
    reference: ExamplesReference,
  ): Promise<readonly TrainingExample[] | WorkProblem> => {
    const { tenant_id, ...request } = asked;
    const named =
      'examples' in reference ? reference.examples : await datasetOf(deps, tenant_id, reference.dataset_id);
    if (isProblem(named)) return named;
    const refused = atLeast(named.length) ?? tooMuch(named);
    if (refused !== undefined) return refused;
    const documents = named.map(({ document_id, file_uri }) => ({ document_id, file_uri }));
    const by = { tenant_id, allTenants: false };
    const counts = await deps.countPages({ ...request, by, documents });
    return isProblem(counts) ? counts : withDocuments(named, counts);
  };
