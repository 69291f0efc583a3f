import type { TrainingOutcome, TrainingProgress } from '@quire/engine/ports/training';
import type { JsonObject } from '../kernel/json.ts';

export type { TrainingOutcome } from '@quire/engine/ports/training';

/** One document and what should be read in it. */
export interface TrainingExample {
  readonly document_id: string;
  readonly expected: JsonObject;
}

/** The caller's own or the platform's model; null: the local engine learns. */
interface TrainingModel {
  /** `<provider>/<model>` */
  readonly provider_model: string | null;
  /** null: the platform's own key. */
  readonly api_key: string | null;
  readonly api_base: string | null;
}

/** Everything that a job is made of. */
export interface TrainingTask {
  readonly job_id: string;
  readonly tenant_id: string;
  /** Which attempt at the job this is, from 1. */
  readonly attempt: number;
  readonly schema: JsonObject;
  readonly examples: readonly TrainingExample[];
  readonly optimizer_tier: 'light' | 'medium' | 'heavy';
  readonly max_metric_calls: number;
  /** Share of the examples to hold out, 0 to 0.5. */
  readonly validation_split: number;
  readonly mode: 'fast' | 'standard' | 'robust';
  readonly seed: number;
  readonly llm: TrainingModel | null;
}

/** A document's file on the local disk. */
interface ExampleFile {
  readonly path: string;
  readonly file_name: string | null;
  readonly sha256: string;
  /** Removes the local file. */
  readonly discard: () => Promise<void>;
}

/** Why an example cannot be read: a code of the interface and a sentence. */
interface ExampleProblem {
  readonly kind: 'problem';
  readonly code: string;
  readonly detail: string;
}

/** Where the documents of examples come from. Throws when storage cannot be reached. */
export interface ExampleSource {
  readonly fetch: (
    tenantId: string,
    documentId: string,
  ) => Promise<{ readonly kind: 'ok'; readonly file: ExampleFile } | ExampleProblem>;
}

export interface TrainingContext {
  readonly source: ExampleSource;
  /** Called often; the worker decides what to record. */
  readonly onProgress: (progress: TrainingProgress) => void;
  /** Aborts when the job was cancelled or lost, or the process ends: stop at once, by throwing. */
  readonly signal: AbortSignal;
}

/** Learns from examples. */
export interface Trainer {
  readonly run: (task: TrainingTask, context: TrainingContext) => Promise<TrainingOutcome>;
}
