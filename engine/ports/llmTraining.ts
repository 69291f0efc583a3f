import type { JsonObject } from '../kernel/json.ts';
import type { Progress } from '../learning/scoring/fieldScore.ts';
import type { ModelAccess } from './modelProvider.ts';
import type { ModelCall } from './modelWork.ts';
import type { TrainingOutcome } from './trainingOutcome.ts';

/** What a document says, and what should be read in it. */
export interface LlmExample {
  /** Markdown of the pages, as the extraction prompt shows it. */
  readonly text: string;
  readonly expected: JsonObject;
}

export interface LlmTrainingWork {
  readonly schema: JsonObject;
  readonly examples: readonly LlmExample[];
  /** The model that reads; it also writes the instruction. */
  readonly access: ModelAccess;
  /** Most documents that are read and scored, counting each time. */
  readonly max_metric_calls: number;
  /** Share of the examples to hold out, 0 to 0.5; at least one is. */
  readonly validation_split: number;
  readonly seed: number;
}

export interface LlmTrainingContext {
  /** Told of each request to the model, once it has ended. */
  readonly onCall: (call: ModelCall) => void;
  readonly onProgress: (progress: Progress) => void;
  /** Aborts at once: `train` throws its reason. */
  readonly signal: AbortSignal;
  /** Whose work it is, as in `ParseRequest`. */
  readonly share: string;
}

/** Learns an instruction and worked examples for the extraction prompt of one model. */
export interface LlmTrainer {
  readonly train: (work: LlmTrainingWork, context: LlmTrainingContext) => Promise<TrainingOutcome>;
}
