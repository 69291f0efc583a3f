import type { PackedDocument } from '../document/document.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { LocalArtifact, TrainingReport } from './artifacts.ts';
import type { ModelAccess } from './modelProvider.ts';
import type { ModelCall } from './modelWork.ts';

/** A document, and what should be read in it. */
interface PackedExample {
  readonly document: PackedDocument;
  readonly expected: JsonObject;
}

/** How the local engine learns. */
export interface TrainingOptions {
  /** Equal seeds and examples give equal bytes. */
  readonly seed: number;
  /** Share of the examples, 0..0.5, that is held out to score the result, where there are 30 or more. */
  readonly validationSplit: number;
}

/** How far training is. A metric call scores one document that was left out. */
export interface TrainingProgress {
  readonly metric_calls: number;
  readonly max_metric_calls: number;
}

/** What the local engine is taught by. */
export interface LearningTask {
  readonly examples: readonly PackedExample[];
  readonly schema: JsonObject;
  readonly options: TrainingOptions;
}

export interface LearningLimits {
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
  /** As in `ParseRequest`. */
  readonly share: string;
  readonly onProgress: (progress: TrainingProgress) => void;
}

export type LearningResult =
  | { readonly kind: 'learned'; readonly artifact: LocalArtifact; readonly report: TrainingReport }
  /** `detail` is a sentence for the caller. */
  | { readonly kind: 'failed'; readonly detail: string }
  | { readonly kind: 'aborted' };

/** Teaches the local extractor beside the API, in a process of its own. */
export interface LocalLearner {
  readonly learn: (task: LearningTask, limits: LearningLimits) => Promise<LearningResult>;
}

/** How one field fared before and after training: F1, 0 to 1, on the examples that were held out. */
export interface FieldScore {
  readonly path: string;
  readonly baseline: number;
  readonly best: number;
}

/** What became of training. */
export type TrainingOutcome =
  | {
      readonly kind: 'trained';
      /** What was learned: these bytes are stored and given back as they are. */
      readonly artifact: Uint8Array;
      /** 0 to 1, on the examples that were held out. */
      readonly baseline_score: number;
      readonly best_score: number;
      readonly per_field: readonly FieldScore[];
    }
  | {
      readonly kind: 'failed';
      /** A code of the interface. */
      readonly code: string;
      /** A sentence for the caller: never what a document says. */
      readonly detail: string;
      /** True: another attempt would fail in the same way. */
      readonly lasting: boolean;
    };

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
  readonly onProgress: (progress: TrainingProgress) => void;
  /** Aborts at once: `train` throws its reason. */
  readonly signal: AbortSignal;
  /** Whose work it is, as in `ParseRequest`. */
  readonly share: string;
}

/** Learns an instruction and worked examples for the extraction prompt of one model. */
export interface LlmTrainer {
  readonly train: (work: LlmTrainingWork, context: LlmTrainingContext) => Promise<TrainingOutcome>;
}
