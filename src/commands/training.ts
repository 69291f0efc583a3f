import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { eachOf } from '@quire/engine/models/byModel/modelWorkDeps';
import { checkSchemaRules, type SchemaVerdict } from '@quire/engine/extraction/schema/schemaRules';
import { fingerprintOf, sha256 } from '../../domain/kernel/chain.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';
import { type ObjectStore, type SecretBox, secretObjectKey } from '../../domain/ports/services.ts';
import { type HoldCredits, NO_END } from '../../domain/account/messages.ts';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import { type Credits, laterBy, NO_CREDITS } from '../../domain/kernel/amounts.ts';
import { holdIdFor, isAbandoned } from '../../domain/leased.ts';
import {
  type CreatedJob,
  examplesEvent,
  type ExamplesKind,
  examplesStream,
  jobIdFor,
  keptExamples,
  trainingJob,
  trainingJobEvent,
  type TrainingJobKind,
  trainingJobStream,
  type TrainingWork,
  usageIdOfJob,
} from '../../domain/trainingJob.ts';
import { abandonWork, cancelWork, type CloseDeps, namedWork, type WorkMoney } from './queue.ts';
import { type Held, holdCredits, planRequired, releaseHold, settleOnce, tooLittle } from './holds.ts';
import { misfit, workProblem, type WorkProblem } from './workProblem.ts';
import { metaOf, systemMeta } from '../writer/commandMeta.ts';
import { dropSecrets } from './operationInput.ts';
import { type BillingDeps, type Caller, withDefaultTags } from './work.ts';
import { type Tags, withTags } from '../../domain/kernel/tags.ts';
import type { ModelDeps } from './models.ts';
import {
  type ExamplesReference,
  notUploadedDocument,
  trainingExamples,
  type TrainingExamplesDeps,
} from './trainingExamples.ts';
import { covers } from '../../domain/account/holds.ts';
import { availableIn } from '../../domain/account/state.ts';
import type { TrainingExample } from '../../domain/ports/trainer.ts';
import { priceTraining } from '../../domain/rating.ts';
import type { Outcome } from '../writer/decideBatch.ts';
import type { Documents } from './uploads.ts';
import { eventCodec } from '../../domain/kernel/codec.ts';
import type { EventStore } from '../../domain/ports/log.ts';
import { streamsOf } from '../writer/commandHandler.ts';

const jsonObject = z.record(z.string(), z.unknown()).transform((value) => value as JsonObject);

const trainingInput = z.object({
  schema: jsonObject,
  examples: z.array(z.object({ document_id: z.string(), expected: jsonObject })),
  validation_split: z.number(),
  mode: z.enum(['fast', 'standard', 'robust']),
  seed: z.number(),
  llm: z
    .object({
      provider_model: z.string().nullable(),
      api_base: z.string().nullable(),
      /** Names the sealed key of the caller; null: the platform's own. */
      secret_id: z.string().nullable(),
    })
    .nullable(),
});

/** The examples of a job. They have documents' names and content, so they are never in the log. */
export type TrainingInput = z.output<typeof trainingInput>;

/** Where the inputs of jobs lie. */
export const TRAINING_PREFIX = 'training/';

/** Where the input of a job lies. */
export const trainingInputKeyOf = (jobId: string, digest: string): string =>
  `${TRAINING_PREFIX}${jobId}/${digest}`;

/** The stored input is not what the job was created with. */
export class TamperedInput extends Error {
  override readonly name = 'TamperedInput';
}

/** Inputs of jobs in object storage: each under its digest, so none can take another's place. */
export const trainingInputs = (objects: ObjectStore) => ({
  /** Gives the digest under which it lies. */
  put: async (jobId: string, input: TrainingInput): Promise<string> => {
    const bytes = new TextEncoder().encode(JSON.stringify(input));
    const digest = sha256(bytes);
    await objects.put(trainingInputKeyOf(jobId, digest), bytes);
    return digest;
  },

  /** Throws TamperedInput when it is missing or another. */
  load: async (jobId: string, digest: string): Promise<TrainingInput> => {
    const bytes = await objects.get(trainingInputKeyOf(jobId, digest));
    if (bytes === undefined || sha256(bytes) !== digest)
      throw new TamperedInput(`the input of ${jobId} is missing or was changed`);
    return trainingInput.parse(JSON.parse(new TextDecoder().decode(bytes)));
  },
});

const exampleRules = { decider: keptExamples, codec: eventCodec(examplesEvent), streamOf: examplesStream };

/** The kept examples of jobs, by the log. */
export const exampleStreams = (store: EventStore) => {
  const { handle, stateOf } = streamsOf<ExamplesKind>(exampleRules, store);
  return {
    handle: (command: ExamplesKind['command']) =>
      handle(command.data.job_id, command, command.data.tenant_id),
    /** The digest of what is kept of a job's input, and the documents whose examples are not. */
    keptOf: async ({ job_id, input_sha256 }: Pick<CreatedJob, 'job_id' | 'input_sha256'>) => {
      const { kept } = await stateOf(job_id);
      return { input_sha256: kept?.input_sha256 ?? input_sha256, erased: kept?.document_ids ?? [] };
    },
  };
};

export type ExampleStreams = ReturnType<typeof exampleStreams>;

export interface JobSecretDeps {
  readonly objects: ObjectStore;
  /** undefined where no key to encrypt fields with is configured. */
  readonly secrets: SecretBox | undefined;
}

interface SecretOfJob {
  readonly tenant_id: string;
  readonly secret_id: string;
}

/** Keeps a caller's own provider key, sealed, until its job has ended. */
const sealJobSecret = async (
  { objects, secrets }: JobSecretDeps,
  owner: SecretOfJob,
  text: string,
): Promise<void> => {
  if (secrets === undefined) throw new Error('there is nothing to seal a key with');
  await objects.put(secretObjectKey(owner.secret_id), secrets.seal(text, owner));
};

/** undefined when it cannot be opened any more. */
export const openJobSecret = async (
  { objects, secrets }: JobSecretDeps,
  owner: SecretOfJob,
): Promise<string | undefined> => {
  const sealed = await objects.get(secretObjectKey(owner.secret_id));
  const opened = sealed === undefined ? undefined : secrets?.open(sealed, owner);
  return opened?.kind === 'opened' ? opened.text : undefined;
};

/** A job's price, and the hold that it is set aside in. */
interface JobPrice extends Pick<
  CreatedJob,
  'job_id' | 'tenant_id' | 'billing_type' | 'billing_config_version'
> {
  readonly credits: Credits;
  readonly hold_id: string;
}

/** What the hold of a job was taken for; jobs of older releases do not say it. */
type TakenFor = Pick<HoldCredits['data'], 'fingerprint' | 'taken_for'>;

/** Who asked for a job, and for what. */
type JobScope = Pick<CreatedJob, 'project_id' | 'task_id' | 'api_key_id' | 'tags'>;

export interface TrainingMoneyDeps extends CloseDeps, Pick<JobSecretDeps, 'objects'> {
  readonly jobs: TrainingJobs;
}

const holdOf = ({ credits, job_id, ...price }: JobPrice & TakenFor & JobScope): HoldCredits['data'] => ({
  ...price,
  operation_id: job_id,
  operation: 'training',
  category: 'training',
  extraction_mode: null,
  pages: 0,
  credits_per_page: NO_CREDITS,
  free_pages_allowance: 0,
  flat_credits: credits,
  paid_plan_required: true,
  // A request that died may have held for other examples, or at another price.
  beside: true,
  expires_at: NO_END,
});

/**
 * Sets a job's price aside. A request that died right after this finds its hold again, if its examples and their price
 * are the same; otherwise it takes another, and whichever hold the job is accepted with stays. Another request under
 * the same key is refused.
 */
const holdForJob = async (
  deps: TrainingMoneyDeps,
  price: JobPrice & TakenFor & JobScope,
  meta: CommandMeta,
): Promise<Held | WorkProblem> => {
  const held = await holdCredits(deps, holdOf(price), meta);
  if (held.kind === 'hold_not_open')
    return workProblem('busy', 'This job has just ended. Send the request again in a moment.');
  return held.kind === 'other_hold'
    ? workProblem('idempotency_key_reused', 'This Idempotency-Key belongs to another training job.')
    : held;
};

/**
 * Charges a job that succeeded. Only in logs of older releases may its hold be gone before: then it is placed again,
 * under the plan that the tenant had.
 */
const charged = async (deps: TrainingMoneyDeps, job: CreatedJob): Promise<boolean> => {
  const { tenant_id, job_id, project_id, task_id, api_key_id, hold_id } = job;
  if (hold_id === null) return true;
  const ids = { tenant_id, usage_id: usageIdOfJob(job_id), project_id, task_id, job_id, api_key_id };
  const meta = () => systemMeta(deps, job_id);
  const settling = { operation_id: job_id, burn: { ...ids, pages: 0, document_id: null }, meta };
  let settled = await settleOnce(deps, settling, hold_id);
  if (settled.kind === 'hold_not_open') {
    const { credits, billing_type, billing_config_version } = job;
    const price = { job_id, tenant_id, billing_type, billing_config_version, credits, hold_id };
    const data = holdOf({ ...price, project_id, task_id, api_key_id, ...withTags(job.tags) });
    const anew = await holdCredits(deps, { ...data, paid_plan_required: false, reopens: true }, meta());
    if (anew.kind === 'held') settled = await settleOnce(deps, settling, hold_id);
  }
  if (settled.kind !== 'settled') return false;
  if (settled.position !== undefined) deps.wrote(tenant_id, settled.position);
  return true;
};

/** How training jobs are billed and closed. Their examples stay: they can be exported. */
export const jobMoney = (deps: TrainingMoneyDeps): WorkMoney<TrainingWork> => ({
  streams: deps.jobs,
  isHeldFor: ({ job_id }, operationId) => operationId === job_id,
  idOf: ({ job_id }) => job_id,
  bill: (job) => charged(deps, job),
  unbilled: () => Promise.resolve(),
  drop: ({ job_id }) => dropSecrets(deps.objects, job_id),
});

interface CheckDeps extends Pick<JobSecretDeps, 'secrets'>, Pick<ModelDeps, 'checkBase'> {}

type CheckedRequest = Extract<SchemaVerdict, { readonly kind: 'ok' }>;

export interface CreateTrainingRequest {
  readonly tenant_id: string;
  readonly caller: Caller;
  readonly correlation_id: string;
  /** null: the request cannot be told from another one. */
  readonly identity: { readonly idempotency_key: string; readonly fingerprint: string } | null;
  readonly signal: AbortSignal;
  readonly project_id: string;
  readonly task_id: string;
  readonly tags?: Tags | undefined;
  readonly name: string | null;
  readonly schema: unknown;
  readonly examples: ExamplesReference;
  readonly optimizer_tier: 'light' | 'medium' | 'heavy';
  readonly max_metric_calls: number | null;
  readonly validation_split: number;
  readonly mode: 'fast' | 'standard' | 'robust';
  readonly billing_type: 'full_service' | 'byok';
  /** The caller's own model: null members are the platform's. */
  readonly llm: {
    readonly provider_model: string | null;
    readonly api_key: string | null;
    readonly api_base: string | null;
  };
  readonly seed: number;
}

const own = (member: string, detail: string): WorkProblem => misfit(['body', member], detail);

/** Whether the caller's own key can be kept, and its address reached. */
const checkOwnKey = async (
  { secrets, checkBase }: CheckDeps,
  { provider_model, api_base }: CreateTrainingRequest['llm'],
): Promise<WorkProblem | undefined> => {
  if (provider_model === null) return own('llm_provider_model', 'Name the model that your own key is for.');
  if (secrets === undefined)
    return workProblem(
      'field_encryption_not_configured',
      'This installation cannot keep provider keys. Set FIELD_ENCRYPTION_KEY, or train without llm_api_key.',
    );
  const base = api_base === null ? undefined : await checkBase(api_base);
  return base === undefined || base.kind === 'ok' ? undefined : workProblem('unsafe_api_base', base.detail);
};

/** What of a request can be wrong without looking at its examples. */
const checkTrainingRequest = async (
  deps: CheckDeps,
  { schema, llm, billing_type }: CreateTrainingRequest,
): Promise<CheckedRequest | WorkProblem> => {
  const verdict = checkSchemaRules(schema);
  if (verdict.kind !== 'ok') return workProblem(verdict.kind, verdict.detail);
  if (llm.api_key === null && (billing_type === 'byok' || llm.api_base !== null))
    return own('llm_api_key', 'Send your own provider key with it.');
  if (llm.api_key === null) return verdict;
  return (await checkOwnKey(deps, llm)) ?? verdict;
};

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

/** Streams that are read beside each other. */
const STREAMS_AT_ONCE = 32;
/** How long an Idempotency-Key names its job. */
const KEPT_MS = 7 * 24 * 3_600_000;
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

/** Another hold for whatever a job is held for: its request, its examples, their price. */
const holdIdOf = (
  price: Omit<JobPrice, 'hold_id' | 'tenant_id'>,
  { fingerprint, taken_for }: TakenFor,
): string => {
  const own = { fingerprint: fingerprint ?? null, taken_for: taken_for ?? null };
  return holdIdFor(price.job_id, fingerprintOf({ ...price, ...own }));
};

const priceOf = async (
  { billingConfig }: CreateTrainingDeps,
  request: CreateTrainingRequest,
  { job_id, ...job }: { readonly job_id: string } & TakenFor,
): Promise<Priced & TakenFor> => {
  const { terms, version: billing_config_version } = await billingConfig();
  const billing_type = request.llm.api_key === null ? 'full_service' : 'byok';
  const { optimizer_tier, max_metric_calls } = request;
  const price = priceTraining(terms, {
    billing_type,
    optimizer_tier,
    max_metric_calls,
    total_examples: job.taken_for?.examples ?? 0,
  });
  const isBilled = request.caller.role === 'tenant';
  const credits = isBilled ? price.credits : NO_CREDITS;
  const priced = { job_id, billing_type, billing_config_version, credits } as const;
  return {
    ...priced,
    ...job,
    tenant_id: request.tenant_id,
    isBilled,
    hold_id: holdIdOf(priced, job),
    max_metric_calls: price.max_metric_calls,
  };
};

/** Releases what requests that died held for a job: for other examples than it has, or at another price. */
const releaseOthers = async (
  deps: CreateTrainingDeps,
  { job_id, tenant_id, hold_id: own }: CreatedJob,
): Promise<void> => {
  const { holds } = await deps.accounts.stateOf(tenant_id, 0);
  for (const { hold_id, operation_id } of holds.values())
    if (operation_id === job_id && hold_id !== own)
      // What cannot be released now is released when the job ends.
      await releaseHold(deps, { tenant_id, hold_id, reason: 'cancelled' }, systemMeta(deps, job_id));
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
  await releaseOthers(deps, job).catch(() => undefined);
  const documentIds = job.document_ids ?? [];
  const states = await eachOf(documentIds, STREAMS_AT_ONCE, (id) => deps.documents.stateOf(id));
  const gone = documentIds.find((_, at) => states[at]?.removed !== null);
  if (gone !== undefined) {
    await cancelWork(deps, jobMoney(deps), { name: nameOf(job), meta });
    return notUploadedDocument(gone);
  }
  return answerOf(job, outcome.events.length === 0);
};

/** The names in a request that is billed later. */
interface Facts {
  readonly input_sha256: string;
  readonly examples: number;
  readonly document_ids: string[];
}

/** The last step: puts the job in the queue, at the price that is set aside. */
const enqueue = async (
  deps: CreateTrainingDeps,
  request: CreateTrainingRequest,
  { isBilled, hold_id, fingerprint: _, taken_for: __, ...price }: Priced & TakenFor & Facts,
): Promise<CreatedTrainingJob | WorkProblem> => {
  const { project_id, task_id, name, optimizer_tier, mode, identity, caller } = request;
  const newMeta = () => metaOf(deps, caller, request.correlation_id);
  const meta = newMeta();
  const data = {
    ...price,
    project_id,
    task_id,
    name,
    optimizer_tier,
    mode,
    fingerprint: identity?.fingerprint ?? '',
    hold_id: isBilled ? hold_id : null,
    api_key_id: caller.key_id,
    ...withTags(request.tags),
    created_at: meta.now,
    expires_at: laterBy(meta.now, JOB_LIFETIME_MS),
  };
  const outcome = await deps.jobs.handle(price, { type: 'Accept', data, meta });
  if (outcome.kind !== 'rejected') return queued(deps, outcome, newMeta());
  if (outcome.rejection.code === 'idempotency_key_reused') return reused();
  // It was given up while this request was under way: its holds are released.
  await abandonWork(deps, jobMoney(deps), nameOf(price)).catch(() => false);
  return workProblem('busy', 'The job could not be queued. Send the request again in a moment.');
};

const nameOf = ({ job_id, tenant_id }: Pick<JobPrice, 'job_id' | 'tenant_id'>) => ({ job_id, tenant_id });

/** Sets the price aside. undefined: it is, or the job is not billed. */
const unheld = async (
  deps: CreateTrainingDeps,
  { caller, correlation_id, project_id, task_id, tags }: CreateTrainingRequest,
  { isBilled, max_metric_calls: _, ...price }: Priced & TakenFor,
): Promise<WorkProblem | undefined> => {
  if (!isBilled) return undefined;
  const held = { ...price, project_id, task_id, api_key_id: caller.key_id, ...withTags(tags) };
  const placed = await holdForJob(deps, held, metaOf(deps, caller, correlation_id));
  return placed.kind === 'problem' ? placed : undefined;
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
  const taken_for = { examples: examples.length, examples_sha256: sha256(JSON.stringify(examples)) };
  const { identity } = request;
  const own = { job_id, taken_for, ...(identity !== null && { fingerprint: identity.fingerprint }) };
  const price = await priceOf(deps, request, own);
  const refused =
    (price.isBilled ? await affordable(deps, price) : undefined) ?? (await unheld(deps, request, price));
  if (refused !== undefined) return refused;
  const document_ids = [...new Set(examples.map(({ document_id }) => document_id))];
  try {
    const input_sha256 = await storeInput(deps, request, { job_id, schema, examples });
    return await enqueue(deps, request, { ...price, input_sha256, examples: examples.length, document_ids });
  } catch (error) {
    // If this cannot be decided now (it may be in the queue), the reaper decides later.
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
    const tagged = withDefaultTags(request.tags, request.caller);
    if (tagged.kind === 'problem') return tagged;
    const checked = await checkTrainingRequest(deps, request);
    if (checked.kind !== 'ok') return checked;
    return create(deps, { ...request, tags: tagged.tags }, { job_id, schema: checked.schema });
  };

/** A job, and whose it is. */
export type JobName = TrainingWork['identity'];

/** The streams of training jobs: the queue, and all there is to know of a job. */
export type TrainingJobs = ReturnType<typeof trainingJobs>;

const rules = { decider: trainingJob, codec: eventCodec(trainingJobEvent), streamOf: trainingJobStream };

export const trainingJobs = (store: EventStore) => {
  const { handle, stateOf } = streamsOf<TrainingJobKind>(rules, store);
  return {
    handle: ({ job_id, tenant_id }: JobName, command: TrainingJobKind['command']) =>
      handle(job_id, command, tenant_id),
    /** From the log; `accepted` is null for one that was never created. */
    stateOf,
  };
};
