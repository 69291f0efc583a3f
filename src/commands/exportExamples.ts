import type { DocumentParser } from '@quire/engine/ports/documentParser';
import type { JsonObject } from '../../domain/kernel/json.ts';
import type { ExampleSource, TrainingExample } from '../../domain/ports/trainer.ts';
import type { AccountWriter } from '../writer/accountWriter.ts';
import type { BillingDeps } from './work.ts';
import {
  type ExampleStreams,
  type JobSecretDeps,
  TamperedInput,
  type TrainingInput,
  trainingInputs,
  type TrainingJobs,
} from './training.ts';
import type { CreatedJob } from '../../domain/trainingJob.ts';
import { exportChargeOf } from '../../domain/account/state.ts';
import { workProblem, type WorkProblem } from './workProblem.ts';

interface ExportDeps extends Pick<JobSecretDeps, 'objects'>, Pick<BillingDeps, 'billingConfig'> {
  readonly accounts: Pick<AccountWriter, 'ask'>;
  readonly jobs: Pick<TrainingJobs, 'stateOf'>;
  readonly kept: Pick<ExampleStreams, 'keptOf'>;
  readonly source: ExampleSource;
  readonly parser: Pick<DocumentParser, 'render'>;
  readonly pagesMax: number;
  /** Of reading one document. */
  readonly deadlineMs: number;
}

/** An example as it is exported: what goes in, and what should come out. */
interface ExportedExample {
  readonly document_id: string;
  /** The document as markdown; null where it cannot be read any more. */
  readonly document: string | null;
  readonly expected: JsonObject;
}

/** Documents that are read at the same time. */
const AT_ONCE = 2;

/** Whether the fee for this job's examples was charged, from the account itself. */
const isCharged = async ({ accounts }: ExportDeps, tenantId: string, jobId: string): Promise<boolean> =>
  (await accounts.ask(tenantId, (state) => exportChargeOf(state, jobId) !== undefined)).answer;

const textOf = async (
  deps: ExportDeps,
  { tenant_id, signal }: ExportRequest,
  { document_id }: TrainingExample,
): Promise<string | null> => {
  const fetched = await deps.source.fetch(tenant_id, document_id);
  if (fetched.kind === 'problem') return null;
  const { path, file_name: fileName } = fetched.file;
  try {
    const { pagesMax, deadlineMs } = deps;
    const read = await deps.parser.render({
      path,
      fileName,
      effort: 'standard',
      pagesMax,
      deadlineMs,
      signal,
      share: tenant_id,
    });
    return read.kind === 'ok' ? read.rendition.markdown : null;
  } finally {
    await fetched.file.discard();
  }
};

interface ExportRequest {
  readonly tenant_id: string;
  readonly job_id: string;
  /** False for keys that are not billed. */
  readonly isBilled: boolean;
  readonly signal: AbortSignal;
}

/** The kept input of a job; a problem once its examples have expired. */
export const keptInput = async (
  { objects, kept }: Pick<ExportDeps, 'objects' | 'kept'>,
  job: Pick<CreatedJob, 'job_id' | 'input_sha256'>,
): Promise<TrainingInput | WorkProblem> => {
  const { input_sha256 } = await kept.keptOf(job);
  try {
    return await trainingInputs(objects).load(job.job_id, input_sha256);
  } catch (error) {
    if (!(error instanceof TamperedInput)) throw error;
    return workProblem('job_not_found', 'The examples of this training job are not kept any more.');
  }
};

/** A job's examples with the text of their documents, once the fee for them was charged. */
export const exportExamples =
  (deps: ExportDeps) =>
  async (request: ExportRequest): Promise<readonly ExportedExample[] | WorkProblem> => {
    const { tenant_id, job_id } = request;
    const { accepted: job } = await deps.jobs.stateOf(job_id);
    if (job?.tenant_id !== tenant_id) return workProblem('job_not_found', 'There is no such training job.');
    if (request.isBilled && !(await isCharged(deps, tenant_id, job_id))) {
      const { terms } = await deps.billingConfig();
      return workProblem(
        'charge_required',
        'Charge the fee first: POST /v1/billing/dspy-examples-charge with this job_id.',
        { job_id, required_credits: terms.examples_export_fee_credits },
      );
    }
    const input = await keptInput(deps, job);
    if ('kind' in input) return input;
    const { examples } = input;
    const rows: ExportedExample[] = [];
    const waiting = examples.entries();
    const work = async () => {
      for (const [at, example] of waiting) {
        const document = await textOf(deps, request, example);
        rows[at] = { document_id: example.document_id, document, expected: example.expected };
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return rows;
  };
