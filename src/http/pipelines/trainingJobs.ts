import type { z } from 'zod';
import { artifactUriOf } from '../../../domain/deployment.ts';
import type { JsonObject } from '../../../domain/kernel/json.ts';
import type { TrainingJobState } from '../../../domain/trainingJob.ts';
import type { CreateTrainingRequest } from '../../commands/training.ts';
import type { ApiDeps } from '../apiDeps.ts';
import type { RouteRequest } from '../defineRoute.ts';
import { workFailure } from '../doneOrProblem.ts';
import { invalid, problem } from '../problems.ts';
import { settleReads } from '../reads/settledReads.ts';
import type {
  cancelledTrainingJob,
  createTrainingJobResponse,
  TrainingJobFields,
  TrainingJobStatusBody,
} from '../wire/pipelines.ts';

type AnyRequest = RouteRequest<unknown, unknown, unknown>;

/** Where a job is booked. */
interface JobScope {
  readonly tenant_id: string;
  readonly project_id: string;
  readonly task_id: string;
}

const referenceOf = ({ examples, dataset_id }: TrainingJobFields): CreateTrainingRequest['examples'] => {
  if ((examples == null) === (dataset_id == null))
    throw invalid({
      loc: ['body', 'examples'],
      msg: 'Send examples or a dataset_id, one of the two.',
      type: 'missing',
    });
  if (dataset_id != null) return { dataset_id };
  const named = (examples ?? []).map(({ expected, ...reference }) => ({
    ...reference,
    expected: expected as JsonObject,
  }));
  return { examples: named };
};

const modeOf = ({ mode }: TrainingJobFields): CreateTrainingRequest['mode'] =>
  mode === 'balanced' ? 'standard' : mode;

const modelOf = (fields: TrainingJobFields): CreateTrainingRequest['llm'] => ({
  provider_model: fields.llm_provider_model ?? fields.model ?? null,
  api_key: fields.llm_api_key ?? null,
  api_base: fields.llm_api_base ?? null,
});

/** Creates a job, or finds the one that the request's identity named before. */
export const createJob = async (
  { pipelines }: ApiDeps,
  request: AnyRequest,
  { scope, fields }: { readonly scope: JobScope; readonly fields: TrainingJobFields },
): Promise<z.input<typeof createTrainingJobResponse>> => {
  const { idempotency_key, fingerprint, caller, signal, meta, answer } = request;
  const { optimizer_tier, validation_split, billing_type, seed } = fields;
  const created = await pipelines.createJob({
    ...scope,
    caller: { key_id: caller.key_id, role: caller.role },
    correlation_id: meta.correlation_id,
    identity: idempotency_key === null ? null : { idempotency_key, fingerprint },
    signal,
    name: fields.name ?? null,
    schema: fields.schema,
    examples: referenceOf(fields),
    max_metric_calls: fields.max_metric_calls ?? null,
    ...{ optimizer_tier, validation_split, billing_type, seed },
    mode: modeOf(fields),
    llm: modelOf(fields),
  });
  if (created.kind === 'problem') throw workFailure(created);
  if (created.replayed) answer.header('Idempotent-Replayed', 'true');
  const { job_id, credits_held, created_at } = created;
  return { job_id, status: 'queued', credits_held, created_at };
};

/** Whose jobs a request may see: of one tenant, or `null` of all. */
export const sightOf = ({ caller }: AnyRequest): string | null =>
  caller.role === 'admin' ? null : caller.tenant_id;

type Existing = TrainingJobState & { readonly accepted: NonNullable<TrainingJobState['accepted']> };

const JOB_ID = /^job_[A-Za-z0-9-]{1,64}$/;

/** A job of the tenant, from the log. 404 for another tenant's: it does not say that there is one. */
export const findJob = async (
  { pipelines }: Pick<ApiDeps, 'pipelines'>,
  tenantId: string | null,
  jobId: string,
): Promise<Existing> => {
  const state = JOB_ID.test(jobId) ? await pipelines.jobs.stateOf(jobId) : undefined;
  const accepted = state?.accepted ?? null;
  if (state === undefined || accepted === null || (tenantId !== null && accepted.tenant_id !== tenantId))
    throw problem('job_not_found', 'There is no such training job.');
  return { ...state, accepted };
};

const learned = (success: Existing['success']) =>
  success === null
    ? { baseline_score: null, best_score: null, per_field: [], artifact_id: null, artifact_uri: null }
    : {
        ...{ baseline_score: success.baseline_score, best_score: success.best_score },
        per_field: [...success.per_field],
        ...{ artifact_id: success.artifact_id, artifact_uri: artifactUriOf(success.artifact_id) },
      };

const bodyOf = (state: Existing, credits_charged: number): TrainingJobStatusBody => {
  const { job_id, tenant_id, project_id, task_id, created_at, max_metric_calls } = state.accepted;
  const { status, reached, success, failure, started_at, finished_at } = state;
  const progress = reached?.progress ?? { metric_calls: 0, max_metric_calls };
  return {
    ...{ job_id, tenant_id, project_id, task_id, status, progress },
    ...learned(success),
    credits_charged,
    error: failure && { detail: '', ...failure },
    ...{ created_at, started_at, finished_at },
  };
};

const statusBody = async (
  { queries, reads }: ApiDeps,
  request: Pick<AnyRequest, 'answer'>,
  state: Existing,
): Promise<TrainingJobStatusBody> => {
  if (state.status !== 'succeeded') return bodyOf(state, 0);
  await settleReads(reads, request, state.accepted.tenant_id);
  // Booked a moment after the success, at the price that was set aside.
  return bodyOf(state, (await queries.chargeOfJob(state.accepted.job_id)) ?? state.accepted.credits);
};

/** A job and how far it is. */
export const jobStatus = async (
  deps: ApiDeps,
  request: Pick<AnyRequest, 'answer'>,
  of: { readonly tenant_id: string | null; readonly job_id: string },
): Promise<TrainingJobStatusBody> => statusBody(deps, request, await findJob(deps, of.tenant_id, of.job_id));

/** Cancels a job that has not ended. */
export const cancelJob = async (
  deps: ApiDeps,
  request: Pick<AnyRequest, 'answer' | 'meta'>,
  of: { readonly tenant_id: string | null; readonly job_id: string },
): Promise<z.input<typeof cancelledTrainingJob>> => {
  const { accepted: job } = await findJob(deps, of.tenant_id, of.job_id);
  const done = await deps.pipelines.cancelJob(job, request.meta);
  if (done.kind === 'problem') throw workFailure(done);
  const after = await findJob(deps, of.tenant_id, of.job_id);
  return { ...(await statusBody(deps, request, after)), cancelled: done.cancelled };
};
