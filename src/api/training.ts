import type { Clock } from '../../domain/ports/log.ts';
import type { PipelineCommands } from '../commands/deployments.ts';
import type { Queries, ReadYourWrites } from '../queries/queries.ts';
import type { AccountWriter } from '../writer/accountWriter.ts';
import { z } from 'zod';
import { chargeAt } from '../../domain/account/state.ts';
import { artifactUriOf } from '../../domain/deployment.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';
import { jobIdOfArtifact, type TrainingJobState } from '../../domain/trainingJob.ts';
import type { CreateTrainingRequest } from '../commands/training.ts';
import { type AnyRequest, routesOver } from '../server/routes.ts';
import { workerOf } from '../server/keys.ts';
import { accountRejections } from './schemas/rejections.ts';
import { invalid, problem, workFailure } from '../server/problems.ts';
import { settleReads } from '../server/answers.ts';
import {
  cancelledTrainingJob,
  createTrainingJobRequest,
  createTrainingJobResponse,
  examplesChargeRequest,
  examplesChargeResponse,
  type TrainingJobFields,
  trainingJobList,
  trainingJobsQuery,
  trainingJobStatus,
  type TrainingJobStatusBody,
} from './schemas/pipelineSchemas.ts';
import type { ChargeCredits } from '../../domain/account/messages.ts';
import type { AccountKind } from '../../domain/account/account.ts';
import type { BillingConfig } from '../../domain/billingConfig.ts';
import { fingerprintOf } from '../../domain/kernel/chain.ts';
import type { Outcome } from '../writer/decideBatch.ts';
import { activeConfig, type ReferenceData } from '../commands/reference.ts';
import { checkKnown, pageFacts, plainText } from './schemas/basics.ts';
import { type Tags, withTags } from '../../domain/tags.ts';
import { withDefaultTags } from '../commands/work.ts';
import { TRAINING_PROBLEMS } from './deployments.ts';

/** What these routes need. */
export interface TrainingDeps {
  readonly accounts: AccountWriter;
  readonly reference: ReferenceData;
  readonly queries: Pick<Queries, 'balanceOfTenant' | 'chargeOfJob' | 'jobsOfTenant'>;
  readonly reads: ReadYourWrites;
  readonly pipelines: PipelineCommands;
  readonly clock: Clock;
}

const { get, post } = routesOver<TrainingDeps>();

/** Where a job is booked. */
interface JobScope {
  readonly tenant_id: string;
  readonly project_id: string;
  readonly task_id: string;
}

const referenceOf = ({
  examples,
  dataset_id,
  set_id,
}: TrainingJobFields): CreateTrainingRequest['examples'] => {
  if ([examples, dataset_id, set_id].filter((one) => one != null).length !== 1)
    throw invalid({
      loc: ['body', 'examples'],
      msg: 'Send examples, a dataset_id or a set_id: one of the three.',
      type: 'missing',
    });
  if (dataset_id != null) return { dataset_id };
  if (set_id != null) return { set_id };
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
  { pipelines }: TrainingDeps,
  request: AnyRequest,
  { scope, fields }: { readonly scope: JobScope; readonly fields: TrainingJobFields },
): Promise<z.input<typeof createTrainingJobResponse>> => {
  const { idempotency_key, fingerprint, caller, signal, meta, answer } = request;
  const { optimizer_tier, validation_split, billing_type, seed } = fields;
  const created = await pipelines.createJob({
    ...scope,
    caller: workerOf(caller),
    tags: fields.tags ?? undefined,
    correlation_id: meta.correlation_id,
    identity: idempotency_key === null ? null : { idempotency_key, fingerprint },
    signal,
    name: fields.name ?? null,
    schema: fields.schema,
    examples: referenceOf(fields),
    max_metric_calls: fields.max_metric_calls ?? null,
    optimizer_tier,
    validation_split,
    billing_type,
    seed,
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
const findJob = async (
  { pipelines }: Pick<TrainingDeps, 'pipelines'>,
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
        baseline_score: success.baseline_score,
        best_score: success.best_score,
        per_field: [...success.per_field],
        artifact_id: success.artifact_id,
        artifact_uri: artifactUriOf(success.artifact_id),
      };

const bodyOf = (state: Existing, credits_charged: number): TrainingJobStatusBody => {
  const { job_id, tenant_id, project_id, task_id, created_at, max_metric_calls } = state.accepted;
  const { status, reached, success, failure, started_at, finished_at } = state;
  const progress = reached?.progress ?? { metric_calls: 0, max_metric_calls };
  return {
    job_id,
    tenant_id,
    project_id,
    task_id,
    status,
    progress,
    ...learned(success),
    credits_charged,
    tags: state.accepted.tags ?? {},
    error: failure && { detail: '', ...failure },
    created_at,
    started_at,
    finished_at,
  };
};

const statusBody = async (
  { queries, reads }: TrainingDeps,
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
  deps: TrainingDeps,
  request: Pick<AnyRequest, 'answer'>,
  of: { readonly tenant_id: string | null; readonly job_id: string },
): Promise<TrainingJobStatusBody> => statusBody(deps, request, await findJob(deps, of.tenant_id, of.job_id));

/** Cancels a job that has not ended. */
export const cancelJob = async (
  deps: TrainingDeps,
  request: Pick<AnyRequest, 'answer' | 'meta'>,
  of: { readonly tenant_id: string | null; readonly job_id: string },
): Promise<z.input<typeof cancelledTrainingJob>> => {
  const { accepted: job } = await findJob(deps, of.tenant_id, of.job_id);
  const done = await deps.pipelines.cancelJob(job, request.meta);
  if (done.kind === 'problem') throw workFailure(done);
  const after = await findJob(deps, of.tenant_id, of.job_id);
  return { ...(await statusBody(deps, request, after)), cancelled: done.cancelled };
};

/** What was charged now, or by the request that this one repeats. */
const chargeIn = ({ events, state }: Extract<Outcome<AccountKind>, { kind: 'done' }>, key: string) => {
  const event = events.find(({ type }) => type === 'CreditsBurned');
  const charge = event?.type === 'CreditsBurned' ? event.data : chargeAt(state, key);
  if (charge === undefined) throw new Error('a charge that was made is not in its account');
  return { charge, charged: event !== undefined };
};

type ExamplesCharge = z.output<typeof examplesChargeRequest>;

/** 404 for a job or an artifact that is not the tenant's, or has no examples any more: a charge books what is. */
const checkOwned = async (
  { pipelines: { jobs, artifacts, keptInput } }: TrainingDeps,
  { tenant_id, job_id, artifact_id }: ExamplesCharge,
): Promise<void> => {
  if (artifact_id != null && (await artifacts.find(tenant_id, artifact_id)) === undefined)
    throw problem('artifact_not_found', 'There is no such artifact of this tenant.');
  const name = job_id ?? (artifact_id == null ? null : jobIdOfArtifact(artifact_id));
  if (name === null) return;
  const { accepted } = await jobs.stateOf(name);
  if (accepted?.tenant_id !== tenant_id)
    throw problem('job_not_found', 'There is no such training job of this tenant.');
  const input = await keptInput(accepted);
  if ('kind' in input) throw workFailure(input);
};

interface ChargeFacts extends Pick<BillingConfig, 'terms' | 'version'> {
  readonly meta: ChargeCredits['meta'];
  readonly usage_id: string;
  readonly api_key_id: string;
  /** Those of the key among them. */
  readonly tags: Tags | undefined;
}

const chargeOf = (
  { tenant_id, idempotency_key, job_id, artifact_id, examples_count, tags: own }: ExamplesCharge,
  { meta, terms, version, usage_id, api_key_id, tags }: ChargeFacts,
): ChargeCredits => ({
  type: 'ChargeCredits',
  meta,
  data: {
    tenant_id,
    usage_id,
    idempotency_key,
    fingerprint: fingerprintOf({
      kind: 'examples charge',
      job_id: job_id ?? null,
      artifact_id: artifact_id ?? null,
      examples_count: examples_count ?? null,
      ...withTags(own),
    }),
    credits: terms.examples_export_fee_credits,
    operation: 'examples_export',
    category: 'training',
    billing_type: 'full_service',
    billing_config_version: version,
    paid_plan_required: true,
    project_id: 'default',
    task_id: 'default',
    document_id: null,
    job_id: job_id ?? (artifact_id == null ? null : jobIdOfArtifact(artifact_id)),
    api_key_id,
    ...withTags(tags),
  },
});

const REJECTIONS = accountRejections(
  'plan_required',
  'insufficient_credits',
  'budget_reached',
  'idempotency_key_reused',
);

export const chargeExamples = post(
  '/v1/billing/dspy-examples-charge',
  {
    summary: 'Charge the flat fee for an export of examples',
    description:
      'Idempotent on `idempotency_key` for ever: a repeat returns the original with `charged: false`. The fee is ' +
      'that of the billing config in force at the first request.',
    access: 'any',
    tenant: 'body',
    body: examplesChargeRequest,
    reply: { status: 200, schema: examplesChargeResponse },
    problems: [
      'job_not_found',
      'artifact_not_found',
      'plan_required',
      'insufficient_credits',
      'budget_reached',
      'idempotency_key_reused',
      'busy',
    ],
  },
  async ({ body, caller, meta, doneOr }, deps) => {
    const { tenant_id, idempotency_key } = body;
    // A key that was used is answered by its charge.
    const earlier = await deps.accounts.ask(tenant_id, (state) => chargeAt(state, idempotency_key));
    if (earlier.answer === undefined) await checkOwned(deps, body);
    const tagged = withDefaultTags(body.tags ?? undefined, caller);
    if (tagged.kind === 'problem') throw workFailure(tagged);
    const { terms, version } = await activeConfig(deps.reference);
    const command = chargeOf(body, {
      meta,
      terms,
      version,
      usage_id: deps.clock.newId('use'),
      api_key_id: caller.key_id,
      tags: tagged.tags,
    });
    const done = doneOr(await deps.accounts.execute(command), REJECTIONS);
    deps.reads.note(tenant_id, done.position);
    const { charge, charged } = chargeIn(done, idempotency_key);
    return {
      charge_id: charge.usage_id,
      tenant_id,
      idempotency_key,
      charged,
      credits_charged: charge.credits,
      balance_credits: done.state.balance,
      created_at: charge.created_at,
    };
  },
);

export const cancelTrainingJob = post(
  '/v1/training/jobs/{job_id}/cancel',
  {
    summary: 'Cancel a training job that has not ended',
    description: 'Its hold is released. A job that had ended does not change: `cancelled` is false.',
    access: 'any',
    params: z.object({ job_id: plainText(1, 128) }),
    reply: { status: 200, schema: cancelledTrainingJob },
    problems: ['job_not_found', 'busy'],
  },
  (request, deps) => cancelJob(deps, request, { tenant_id: sightOf(request), job_id: request.params.job_id }),
);

/** A job is not created twice within a week. */
const KEPT_A_WEEK = { keyLengthMax: 255, keepMs: 7 * 24 * 3_600_000 };

export const createTrainingJob = post(
  '/v1/training/jobs',
  {
    summary: 'Train a pipeline on examples',
    description:
      'The price that `GET /v1/billing/training-quote` quotes is held now; it is charged if the job succeeds and ' +
      'released if not. Needs a paid plan. For seven days, the same `Idempotency-Key` makes only one job.',
    access: 'any',
    tenant: 'body',
    idempotency: KEPT_A_WEEK,
    body: createTrainingJobRequest,
    reply: { status: 202, schema: createTrainingJobResponse },
    problems: TRAINING_PROBLEMS,
  },
  (request, deps) => {
    const { tenant_id, project_id, task_id, ...fields } = request.body;
    return createJob(deps, request, { scope: { tenant_id, project_id, task_id }, fields });
  },
);

export const getTrainingExamples = get(
  '/v1/training/jobs/{job_id}/examples',
  {
    summary: 'The examples of a training job, as DSPy loads them',
    description:
      'NDJSON, a line `{document_id, document, expected}` for each example: ' +
      '`dspy.Example(**row).with_inputs("document")`. `document` is the text of the document as markdown. First pay ' +
      'for this job, or for its artifact, with `POST /v1/billing/dspy-examples-charge`.',
    access: 'any',
    bucket: 'heavy',
    params: z.object({ job_id: plainText(1, 128) }),
    reply: { status: 200, contentType: 'application/x-ndjson' },
    problems: ['job_not_found', 'charge_required', 'storage_error'],
  },
  async (request, deps) => {
    const { accepted: job } = await findJob(deps, sightOf(request), request.params.job_id);
    const { tenant_id, job_id } = job;
    const isBilled = request.caller.role === 'tenant';
    const { signal } = request;
    const rows = await deps.pipelines.exportExamples({ tenant_id, job_id, isBilled, signal });
    if ('kind' in rows) throw workFailure(rows);
    const body = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    return { contentType: 'application/x-ndjson', body };
  },
);

export const getTrainingJob = get(
  '/v1/training/jobs/{job_id}',
  {
    summary: 'The progress and the result of a training job',
    description:
      'Poll until `status` is `succeeded`, `failed` or `cancelled`; the scores by field show what was learned.',
    access: 'any',
    params: z.object({ job_id: plainText(1, 128) }),
    reply: { status: 200, schema: trainingJobStatus },
    problems: ['job_not_found'],
  },
  (request, deps) => jobStatus(deps, request, { tenant_id: sightOf(request), job_id: request.params.job_id }),
);

export const listTrainingJobs = get(
  '/v1/training/jobs',
  {
    summary: 'The training jobs of a tenant, newest first',
    description: 'Progress and scores are in `GET /v1/training/jobs/{job_id}`.',
    access: 'any',
    tenant: 'query',
    query: trainingJobsQuery,
    reply: { status: 200, schema: trainingJobList },
    problems: ['tenant_not_found'],
    reads: 'tenant',
  },
  async ({ query }, { queries }) => {
    const { tenant_id } = query;
    const found = await queries.jobsOfTenant(query);
    await checkKnown({ queries }, tenant_id, { isEmpty: found.total === 0 });
    const shown = found.items.map(({ credits: credits_held, credits_charged, ...item }) => ({
      ...item,
      credits_held,
      // Booked a moment after the success, at the price that was set aside.
      credits_charged: credits_charged ?? (item.status === 'succeeded' ? credits_held : 0),
    }));
    return { items: shown, ...pageFacts(query, found) };
  },
);
