import { z } from 'zod';
import { billingType, extractionMode } from '../account/words.ts';
import { event } from '../kernel/event.ts';
import { creditsFromZero, instant, tenantId } from '../kernel/units.ts';

/** A share of right fields, 0 to 1, on the examples that were held out. */
export const score = z.number().min(0).max(1);

/** How one field fared before and after training. */
export const fieldScore = z.strictObject({ path: z.string(), baseline: score, best: score });
export type FieldScore = z.output<typeof fieldScore>;

/** How far a job has come. */
export const progress = z.strictObject({
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
  /** What it costs when it succeeds; 0 where it is not billed. */
  credits: creditsFromZero,
  billing_config_version: z.number().int().min(1),
  api_key_id: z.string(),
  created_at: instant,
  /** When it is given up, whatever has become of it. */
  expires_at: instant,
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
});

const trainingJobFailed = event('TrainingJobFailed', {
  job_id: z.string(),
  tenant_id: tenantId,
  /** A code of the interface, or `worker_lost`, `expired`. */
  code: z.string(),
  /** A sentence for the caller. */
  detail: z.string(),
  failed_at: instant,
});

const trainingJobCancelled = event('TrainingJobCancelled', {
  job_id: z.string(),
  tenant_id: tenantId,
  cancelled_at: instant,
  /** It never was in the queue: its request died, and its identity is closed for good. */
  abandoned: z.literal(true).optional(),
});

export const trainingJobEvent = z.discriminatedUnion('type', [
  trainingJobCreated,
  trainingJobStarted,
  trainingJobProgressed,
  trainingJobSucceeded,
  trainingJobFailed,
  trainingJobCancelled,
]);
export type TrainingJobEvent = z.output<typeof trainingJobEvent>;
export type TrainingJobEventOf<Type extends TrainingJobEvent['type']> = Extract<
  TrainingJobEvent,
  { type: Type }
>;

export const trainingJobStream = (jobId: string): string => `trainingJob-${jobId}`;
