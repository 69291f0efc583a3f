import type { PackedDocument } from '../document/document.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { LocalArtifact, TrainingReport } from '../learning/artifact.ts';
import type { TrainingOptions, TrainingProgress } from '../learning/train.ts';

/** A document, and what should be read in it. */
export interface PackedExample {
  readonly document: PackedDocument;
  readonly expected: JsonObject;
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
