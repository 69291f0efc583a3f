import { z } from 'zod';
import { billingType, extractionMode } from './account/messages.ts';
import { accept, type Command, type Decider, event, reject, type StreamKind } from './kernel/decider.ts';
import { creditsFromZero, instant, tenantId } from './kernel/amounts.ts';
import { digestText, type QueuedKind, type QueuedState, queuedWork, suffixOf } from './leased.ts';
import { tagged } from './kernel/tags.ts';

/** A share of right fields, 0 to 1, on the examples that were held out. */
export const score = z.number().min(0).max(1);

/** How one field fared before and after training. */
export const fieldScore = z.strictObject({ path: z.string(), baseline: score, best: score });

/** How far a job has come. */
const progress = z.strictObject({
  metric_calls: z.number().int().min(0),
  max_metric_calls: z.number().int().min(0),
});
export type Progress = z.output<typeof progress>;

const optimizerTier = z.enum(['light', 'medium', 'heavy']);

/**
 * The job was asked for and waits: the stream is its place in the queue. Schema, examples and options lie
 * in object storage under `input_sha256`; no document and no expected value is ever in the log.
 */
const trainingJobCreated = event('TrainingJobCreated', {
  job_id: z.string(),
  tenant_id: tenantId,
  project_id: z.string(),
  task_id: z.string(),
  name: z.string().nullable(),
  optimizer_tier: optimizerTier,
  mode: extractionMode,
  billing_type: billingType,
  examples: z.number().int().min(2),
  /** Of the examples; jobs that were created before this was said have none. */
  document_ids: z.array(z.string()).optional(),
  max_metric_calls: z.number().int().min(0),
  input_sha256: z.string(),
  /** Digest of the request: the same identity with another one is refused. */
  fingerprint: z.string(),
  /** null for keys that are not billed. */
  hold_id: z.string().nullable(),
  /** Its price when it succeeds; 0 if it is not billed. */
  credits: creditsFromZero,
  billing_config_version: z.number().int().min(1),
  api_key_id: z.string(),
  created_at: instant,
  /** When it is given up, whatever has become of it. */
  expires_at: instant,
  ...tagged,
});

/** A worker claimed the job: it is its owner until the lease is lost. */
const trainingJobStarted = event('TrainingJobStarted', {
  job_id: z.string(),
  tenant_id: tenantId,
  lease_id: z.string(),
  lease_until: instant,
  worker: z.string(),
  /** From 1. */
  attempt: z.number().int().min(1),
  started_at: instant,
});

/**
 * The owner lives: its lease is longer now. With `gave_up` it stopped before the end, and the job waits
 * from `lease_until` on for another attempt.
 */
const trainingJobProgressed = event('TrainingJobProgressed', {
  job_id: z.string(),
  tenant_id: tenantId,
  lease_id: z.string(),
  lease_until: instant,
  progress,
  gave_up: z.enum(['failed', 'shutdown']).nullable(),
  progressed_at: instant,
});

const trainingJobSucceeded = event('TrainingJobSucceeded', {
  job_id: z.string(),
  tenant_id: tenantId,
  lease_id: z.string(),
  artifact_id: z.string(),
  baseline_score: score,
  best_score: score,
  per_field: z.array(fieldScore),
  progress,
  succeeded_at: instant,
  ...tagged,
});

const trainingJobFailed = event('TrainingJobFailed', {
  job_id: z.string(),
  tenant_id: tenantId,
  /** A code of the interface, or `worker_lost`, `expired`. */
  code: z.string(),
  /** A sentence for the caller. */
  detail: z.string(),
  failed_at: instant,
  ...tagged,
});

const trainingJobCancelled = event('TrainingJobCancelled', {
  job_id: z.string(),
  tenant_id: tenantId,
  cancelled_at: instant,
  /** It never was in the queue: its request died, and its identity is closed permanently. */
  abandoned: z.literal(true).optional(),
  ...tagged,
});

export const trainingJobEvent = z.discriminatedUnion('type', [
  trainingJobCreated,
  trainingJobStarted,
  trainingJobProgressed,
  trainingJobSucceeded,
  trainingJobFailed,
  trainingJobCancelled,
]);
type TrainingJobEvent = z.output<typeof trainingJobEvent>;
export type TrainingJobEventOf<Type extends TrainingJobEvent['type']> = Extract<
  TrainingJobEvent,
  { type: Type }
>;

export const trainingJobStream = (jobId: string): string => `trainingJob-${jobId}`;

/** The identity that a caller gave a request. `generation` counts reuses after the time of replays. */
interface JobIdentity {
  readonly tenant_id: string;
  readonly idempotency_key: string;
  readonly generation: number;
}

/** The same request always names the same job, so whatever died between two steps is found again. */
export const jobIdFor = ({ tenant_id, idempotency_key, generation }: JobIdentity): string =>
  `job_${digestText(['training job', tenant_id, idempotency_key, String(generation)].join('\u001f'))}`;

/** The burn of a job that succeeded. */
export const usageIdOfJob = (jobId: string): string => `use_${suffixOf(jobId)}`;
/** A job makes one artifact at most. */
export const artifactIdOfJob = (jobId: string): string => `art_${suffixOf(jobId)}`;
/** The job whose artifact it is. */
export const jobIdOfArtifact = (artifactId: string): string => artifactId.replace(/^art_/, 'job_');

export type CreatedJob = TrainingJobEventOf<'TrainingJobCreated'>['data'];

export interface TrainingWork {
  readonly event: TrainingJobEvent;
  readonly identity: { readonly job_id: string; readonly tenant_id: string };
  readonly accepted: CreatedJob;
  readonly success: TrainingJobEventOf<'TrainingJobSucceeded'>['data'];
  readonly reached: { readonly progress: Progress };
}
export type TrainingJobKind = QueuedKind<TrainingWork>;
export type TrainingJobState = QueuedState<TrainingWork>;

/** Training jobs: the same machine as operations, with a price of their own and an artifact at the end. */
export const trainingJob = queuedWork<TrainingWork>({
  words: {
    accepted: 'TrainingJobCreated',
    started: 'TrainingJobStarted',
    progressed: 'TrainingJobProgressed',
    succeeded: 'TrainingJobSucceeded',
    failed: 'TrainingJobFailed',
    cancelled: 'TrainingJobCancelled',
  },
  identityOf: ({ job_id, tenant_id }) => ({ job_id, tenant_id }),
  begins: ({ max_metric_calls }) => ({ progress: { metric_calls: 0, max_metric_calls } }),
  ends: (_, { progress }) => ({ progress }),
  reachedIn: ({ progress }) => ({ progress }),
  reaped: {
    expired: 'The job did not end in the time that jobs have.',
    worker_lost: 'The job was started several times and never came to its end. Create it again.',
  },
});

/** Examples whose documents were erased are gone; the others lie under another digest. Says all that is known. */
const examplesErased = event('ExamplesErased', {
  job_id: z.string(),
  tenant_id: tenantId,
  /** Those of all times, in the order of their erasing. */
  document_ids: z.array(z.string()).min(1),
  /** Of what is kept of the job's input. */
  input_sha256: z.string(),
  erased_at: instant,
});

export const examplesEvent = z.discriminatedUnion('type', [examplesErased]);
type ExamplesEvent = z.output<typeof examplesEvent>;

/** `of_sha256`: the input that the new one was made of. */
type EraseExamples = Command<
  'EraseExamples',
  Omit<ExamplesEvent['data'], 'erased_at'> & { readonly of_sha256: string }
>;

interface ExamplesState {
  /** null: the input is as the job was created with. */
  readonly kept: ExamplesEvent['data'] | null;
}

export type ExamplesKind = StreamKind<
  ExamplesState,
  EraseExamples,
  ExamplesEvent,
  /** Something else was erased meanwhile. */
  { readonly code: 'other_input' }
>;

/** What is kept of the examples of a job. */
export const keptExamples: Decider<ExamplesKind> = {
  initialState: { kept: null },
  saysAll: true,
  decide: ({ kept }, { data: { of_sha256, document_ids, ...data }, meta: { now: erased_at } }) => {
    if (kept !== null && kept.input_sha256 !== of_sha256) return reject({ code: 'other_input' });
    const all = [...new Set([...(kept?.document_ids ?? []), ...document_ids])];
    if (all.length === kept?.document_ids.length) return accept();
    return accept({ type: 'ExamplesErased', data: { ...data, document_ids: all, erased_at } });
  },
  evolve: (_state, { data }) => ({ kept: data }),
};

export const examplesStream = (jobId: string): string => `examples-${jobId}`;
