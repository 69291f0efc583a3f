import { randomUUID } from 'node:crypto';
import { covers } from '../../../domain/account/holds.ts';
import { availableIn } from '../../../domain/account/state.ts';
import { laterBy, NO_CREDITS } from '../../../domain/kernel/amounts.ts';
import type { JsonObject } from '../../../domain/kernel/json.ts';
import type { TrainingExample } from '../../../domain/ports/trainer.ts';
import { priceTraining } from '../../../domain/rating.ts';
import { holdIdFor, isAbandoned } from '../../../domain/leased.ts';
import { type CreatedJob, jobIdFor, type TrainingJobKind } from '../../../domain/trainingJob.ts';
import { abandonWork, cancelWork } from '../queue/closeWork.ts';
import { namedWork } from '../queue/namedWork.ts';
import type { BillingDeps } from '../work/billedWork.ts';
import { planRequired, tooLittle } from '../work/holds.ts';
import { metaOf } from '../writer/commandMeta.ts';
import type { Outcome } from '../writer/outcome.ts';
import type { CommandMeta } from '../../../domain/kernel/decider.ts';
import type { Documents } from '../uploads/documents.ts';
import { notUploadedDocument, trainingExamples, type TrainingExamplesDeps } from './trainingExamples.ts';
import { sealJobSecret, trainingInputs, type JobSecretDeps, type TrainingInput } from './trainingInput.ts';
import { holdForJob, jobMoney, type JobPrice, type TrainingMoneyDeps } from './trainingMoney.ts';
import { checkTrainingRequest, type CheckDeps, type CreateTrainingRequest } from './trainingRequest.ts';
import { workProblem, type WorkProblem } from '../work/workProblem.ts';

export interface CreateTrainingDeps
  extends
    TrainingMoneyDeps,
    TrainingExamplesDeps,
    JobSecretDeps,
    CheckDeps,
    Pick<BillingDeps, 'billingConfig'> {
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
const jobOf = async ({ jobs, clock }: CreateTrainingDeps, { tenant_id, identity }: CreateTrainingRequest) => {
  if (identity === null) return { job_id: clock.newId('job'), earlier: null };
  const { idempotency_key } = identity;
  const { id: job_id, state } = await namedWork({
    idOf: (generation) => jobIdFor({ tenant_id, idempotency_key, generation }),
    stateOf: jobs.stateOf,
    read: (one) => ({ since: one.accepted?.created_at ?? null, isClosed: isAbandoned(one) }),
    keptMs: KEPT_MS,
    now: clock.now(),
  });
  return { job_id, earlier: state.accepted };
};

const answerOf = (job: CreatedJob, replayed: boolean): CreatedTrainingJob => ({
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
  { billingConfig }: CreateTrainingDeps,
  request: CreateTrainingRequest,
  job: { readonly job_id: string; readonly examples: number },
): Promise<Priced> => {
  const { terms, version: billing_config_version } = await billingConfig();
  const billing_type = request.llm.api_key === null ? 'full_service' : 'byok';
  const { optimizer_tier, max_metric_calls } = request;
  const price = priceTraining(terms, {
    ...{ billing_type, optimizer_tier, max_metric_calls },
    total_examples: job.examples,
  });
  const isBilled = request.caller.role === 'tenant';
  return {
    ...{ job_id: job.job_id, tenant_id: request.tenant_id, billing_type, billing_config_version, isBilled },
    hold_id: holdIdFor(job.job_id, request.identity?.fingerprint ?? ''),
    credits: isBilled ? price.credits : NO_CREDITS,
    max_metric_calls: price.max_metric_calls,
  };
};

const storeInput = async (
  deps: CreateTrainingDeps,
  request: CreateTrainingRequest,
  { job_id, ...learn }: Pick<TrainingInput, 'schema' | 'examples'> & { readonly job_id: string },
): Promise<string> => {
  const { llm, tenant_id, validation_split, mode, seed } = request;
  const secret_id = llm.api_key === null ? null : `${job_id}/${randomUUID()}`;
  if (llm.api_key !== null && secret_id !== null)
    await sealJobSecret(deps, { tenant_id, secret_id }, llm.api_key);
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
  const job = outcome.kind === 'done' ? outcome.state.accepted : null;
  if (outcome.kind !== 'done' || job === null)
    return workProblem(
      'busy',
      'The job could not be queued. Send the request again with the same Idempotency-Key.',
    );
  if (outcome.position !== undefined) deps.wrote(job.tenant_id, outcome.position);
  for (const document_id of job.document_ids ?? []) {
    if ((await deps.documents.stateOf(document_id)).removed === null) continue;
    await cancelWork(deps, jobMoney(deps), { name: nameOf(job), meta });
    return notUploadedDocument(document_id);
  }
  return answerOf(job, outcome.events.length === 0);
};

/** What a request that is billed later names. */
interface Facts {
  readonly input_sha256: string;
  readonly examples: number;
  readonly document_ids: string[];
}

/** The last step: puts the job in the queue, at the price that is set aside. */
const enqueue = async (
  deps: CreateTrainingDeps,
  request: CreateTrainingRequest,
  { isBilled, hold_id, ...price }: Priced & Facts,
): Promise<CreatedTrainingJob | WorkProblem> => {
  const { project_id, task_id, name, optimizer_tier, mode, identity, caller } = request;
  const newMeta = () => metaOf(deps, caller, request.correlation_id);
  const meta = newMeta();
  const data = {
    ...price,
    ...{ project_id, task_id, name, optimizer_tier, mode },
    fingerprint: identity?.fingerprint ?? '',
    hold_id: isBilled ? hold_id : null,
    api_key_id: caller.key_id,
    ...{ created_at: meta.now, expires_at: laterBy(meta.now, JOB_LIFETIME_MS) },
  };
  const outcome = await deps.jobs.handle(price, { type: 'Accept', data, meta });
  if (outcome.kind !== 'rejected') return queued(deps, outcome, newMeta());
  if (outcome.rejection.code === 'idempotency_key_reused') return reused();
  // Somebody has given it up while this request was on its way: what it holds is given back.
  await abandonWork(deps, jobMoney(deps), nameOf(price)).catch(() => false);
  return workProblem('busy', 'The job could not be queued. Send the request again in a moment.');
};

const nameOf = ({ job_id, tenant_id }: Pick<JobPrice, 'job_id' | 'tenant_id'>) => ({ job_id, tenant_id });

/** Sets the price aside; a request that was sent again is priced as it was the first time. */
const held = async (
  deps: CreateTrainingDeps,
  request: CreateTrainingRequest,
  price: Priced,
): Promise<Priced | WorkProblem> => {
  if (!price.isBilled) return price;
  const meta = metaOf(deps, request.caller, request.correlation_id);
  const placed = await holdForJob(deps, price, meta);
  if (placed.kind === 'problem') return placed;
  const { credits, billing_config_version } = placed.hold;
  return { ...price, credits, billing_config_version };
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
  const priced = await held(deps, request, price);
  if (isProblem(priced)) return priced;
  const document_ids = [...new Set(examples.map(({ document_id }) => document_id))];
  try {
    const input_sha256 = await storeInput(deps, request, { job_id, schema, examples });
    return await enqueue(deps, request, { ...priced, input_sha256, examples: examples.length, document_ids });
  } catch (error) {
    // What cannot be told now (it may be in the queue) the reaper tells later.
    await abandonWork(deps, jobMoney(deps), nameOf(price)).catch(() => false);
    throw error;
  }
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
