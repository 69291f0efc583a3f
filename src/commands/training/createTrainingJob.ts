import { covers } from '../../../domain/account/holds.ts';
import { availableIn } from '../../../domain/account/state.ts';
import { laterBy } from '../../../domain/kernel/instant.ts';
import type { JsonObject } from '../../../domain/kernel/json.ts';
import { NO_CREDITS } from '../../../domain/kernel/units.ts';
import type { TrainingExample } from '../../../domain/ports/trainer.ts';
import { priceTraining } from '../../../domain/rating/trainingQuote.ts';
import type { TrainingJobKind, TrainingJobState } from '../../../domain/trainingJob/decider.ts';
import { holdIdOfJob, jobIdFor } from '../../../domain/trainingJob/identity.ts';
import type { BillingDeps } from '../work/billedWork.ts';
import { planRequired, tooLittle } from '../work/holds.ts';
import { metaOf } from '../writer/commandMeta.ts';
import type { Outcome } from '../writer/outcome.ts';
import type { CommandMeta } from '../../../domain/kernel/command.ts';
import type { Documents } from '../uploads/documents.ts';
import { cancelTrainingJob } from './closeTrainingJob.ts';
import { notUploadedDocument, trainingExamples, type TrainingExamplesDeps } from './trainingExamples.ts';
import { sealJobSecret, trainingInputs, type JobSecretDeps, type TrainingInput } from './trainingInput.ts';
import type { TrainingJobs } from './trainingJobs.ts';
import { holdForJob, type JobPrice, type TrainingMoneyDeps } from './trainingMoney.ts';
import { checkTrainingRequest, type CheckDeps, type CreateTrainingRequest } from './trainingRequest.ts';
import { workProblem, type WorkProblem } from '../work/workProblem.ts';

export interface CreateTrainingDeps
  extends
    TrainingMoneyDeps,
    TrainingExamplesDeps,
    JobSecretDeps,
    CheckDeps,
    Pick<BillingDeps, 'billingConfig'> {
  readonly jobs: TrainingJobs;
  readonly documents: Pick<Documents, 'stateOf'>;
}

export interface CreatedTrainingJob {
  readonly kind: 'created';
  readonly job_id: string;
  readonly credits_held: number;
  readonly created_at: string;
  /** True for the repeat of a request: nothing was started by it. */
  readonly replayed: boolean;
}

/** How long an Idempotency-Key names its job. */
export const KEPT_MS = 7 * 24 * 3_600_000;
/** Jobs that did not end by then are given up. */
const JOB_LIFETIME_MS = 7 * 24 * 3_600_000;

/** The job that the request's identity names: an earlier one, or a free ID. */
const jobOf = async (
  { jobs, clock }: CreateTrainingDeps,
  { tenant_id, identity }: CreateTrainingRequest,
): Promise<{ readonly job_id: string; readonly earlier: TrainingJobState['job'] }> => {
  if (identity === null) return { job_id: clock.newId('job'), earlier: null };
  const now = Date.parse(clock.now());
  for (let generation = 0; ; generation += 1) {
    const job_id = jobIdFor({ tenant_id, idempotency_key: identity.idempotency_key, generation });
    const { job } = await jobs.stateOf(job_id);
    if (job === null || now - Date.parse(job.created_at) < KEPT_MS) return { job_id, earlier: job };
  }
};

const answerOf = (job: NonNullable<TrainingJobState['job']>, replayed: boolean): CreatedTrainingJob => ({
  kind: 'created',
  job_id: job.job_id,
  credits_held: job.credits,
  created_at: job.created_at,
  replayed,
});

const reused = (): WorkProblem =>
  workProblem('idempotency_key_reused', 'This Idempotency-Key belongs to another training job.');

const isProblem = (answer: object): answer is WorkProblem => 'kind' in answer && answer.kind === 'problem';

/** Refused before a document is looked up; the hold decides. */
const planned = async (
  { accounts }: CreateTrainingDeps,
  { tenant_id, caller }: CreateTrainingRequest,
): Promise<WorkProblem | undefined> => {
  if (caller.role !== 'tenant') return undefined;
  const { plan } = await accounts.stateOf(tenant_id);
  return plan === 'free' ? planRequired(plan) : undefined;
};

/** Refused early, before anything is stored; the hold decides. */
const affordable = async (
  { accounts }: CreateTrainingDeps,
  { tenant_id, credits }: JobPrice,
): Promise<WorkProblem | undefined> => {
  const state = await accounts.stateOf(tenant_id);
  const available = availableIn(state);
  return covers(available, credits) ? undefined : tooLittle(credits, available);
};

interface Priced extends JobPrice {
  readonly max_metric_calls: number;
  readonly isBilled: boolean;
}

const priceOf = async (
  { billingConfig, clock }: CreateTrainingDeps,
  request: CreateTrainingRequest,
  job: { readonly job_id: string; readonly examples: number },
): Promise<Priced> => {
  const { terms, version } = await billingConfig();
  const billing_type = request.llm.api_key === null ? 'full_service' : 'byok';
  const { optimizer_tier, max_metric_calls } = request;
  const price = priceTraining(terms, {
    ...{ billing_type, optimizer_tier, max_metric_calls },
    total_examples: job.examples,
  });
  const isBilled = request.caller.role === 'tenant';
  return {
    job_id: job.job_id,
    tenant_id: request.tenant_id,
    billing_type,
    billing_config_version: version,
    expires_at: laterBy(clock.now(), JOB_LIFETIME_MS),
    credits: isBilled ? price.credits : NO_CREDITS,
    max_metric_calls: price.max_metric_calls,
    isBilled,
  };
};

const storeInput = async (
  deps: CreateTrainingDeps,
  request: CreateTrainingRequest,
  { job_id, ...learn }: Pick<TrainingInput, 'schema' | 'examples'> & { readonly job_id: string },
): Promise<string> => {
  const { llm, tenant_id, validation_split, mode, seed } = request;
  const secret_id = llm.api_key === null ? null : job_id;
  if (llm.api_key !== null) await sealJobSecret(deps, { tenant_id, secret_id: job_id }, llm.api_key);
  const { provider_model, api_base } = llm;
  const model = provider_model === null ? null : { provider_model, api_base, secret_id };
  return trainingInputs(deps.objects).put(job_id, { ...learn, validation_split, mode, seed, llm: model });
};

/** An upload may have been removed while the job was created: then the job ends again, and costs nothing. */
const queued = async (
  deps: CreateTrainingDeps,
  outcome: Exclude<Outcome<TrainingJobKind>, { readonly kind: 'rejected' }>,
  meta: CommandMeta,
): Promise<CreatedTrainingJob | WorkProblem> => {
  const job = outcome.kind === 'done' ? outcome.state.job : null;
  if (outcome.kind !== 'done' || job === null)
    return workProblem(
      'busy',
      'The job could not be queued. Send the request again with the same Idempotency-Key.',
    );
  if (outcome.position !== undefined) deps.wrote(job.tenant_id, outcome.position);
  for (const document_id of job.document_ids ?? []) {
    if ((await deps.documents.stateOf(document_id)).removed === null) continue;
    await cancelTrainingJob(deps)(job, meta);
    return notUploadedDocument(document_id);
  }
  return answerOf(job, outcome.events.length === 0);
};

/** The last two steps: set the price aside, and put the job in the queue. */
const enqueue = async (
  deps: CreateTrainingDeps,
  request: CreateTrainingRequest,
  {
    price,
    ...facts
  }: {
    readonly price: Priced;
    readonly input_sha256: string;
    readonly examples: number;
    readonly document_ids: string[];
  },
): Promise<CreatedTrainingJob | WorkProblem> => {
  const meta = () => metaOf(deps, request.caller, request.correlation_id);
  const refused = price.isBilled ? await holdForJob(deps, price, meta) : undefined;
  if (refused !== undefined) return refused;
  const { isBilled, ...priced } = price;
  const { project_id, task_id, name, optimizer_tier, mode, identity } = request;
  const data = {
    ...priced,
    ...facts,
    ...{ project_id, task_id, name, optimizer_tier, mode },
    fingerprint: identity?.fingerprint ?? '',
    hold_id: isBilled ? holdIdOfJob(price.job_id) : null,
    api_key_id: request.caller.key_id,
  };
  const outcome = await deps.jobs.handle(price, { type: 'CreateTrainingJob', data, meta: meta() });
  return outcome.kind === 'rejected' ? reused() : queued(deps, outcome, meta());
};

const create = async (
  deps: CreateTrainingDeps,
  request: CreateTrainingRequest,
  { job_id, schema }: { readonly job_id: string; readonly schema: JsonObject },
): Promise<CreatedTrainingJob | WorkProblem> => {
  const unplanned = await planned(deps, request);
  if (unplanned !== undefined) return unplanned;
  const found: readonly TrainingExample[] | WorkProblem = await trainingExamples(deps)(
    request,
    request.examples,
  );
  if (isProblem(found)) return found;
  const examples = [...found];
  const price = await priceOf(deps, request, { job_id, examples: examples.length });
  const refused = price.isBilled ? await affordable(deps, price) : undefined;
  if (refused !== undefined) return refused;
  const input_sha256 = await storeInput(deps, request, { job_id, schema, examples });
  const document_ids = [...new Set(examples.map(({ document_id }) => document_id))];
  return enqueue(deps, request, { price, input_sha256, examples: examples.length, document_ids });
};

/**
 * Creates a training job, once for its identity: the IDs of job and hold follow from it, so whatever a
 * crash left is taken up by the next request or, a while later, by the reaper.
 */
export const createTrainingJob =
  (deps: CreateTrainingDeps) =>
  async (request: CreateTrainingRequest): Promise<CreatedTrainingJob | WorkProblem> => {
    const { job_id, earlier } = await jobOf(deps, request);
    if (earlier !== null)
      return earlier.fingerprint === request.identity?.fingerprint ? answerOf(earlier, true) : reused();
    const checked = await checkTrainingRequest(deps, request);
    return checked.kind === 'ok' ? create(deps, request, { job_id, schema: checked.schema }) : checked;
  };
