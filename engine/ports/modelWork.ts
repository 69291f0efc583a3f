import type { LearnedPrompt } from '../learning/prompts/learned.ts';
import type { ModelRef, ModelAccess, ModelFailure, ModelUsage } from './modelProvider.ts';
import type { ParseFailure, RenderRequest, Rendition } from './documentParser.ts';
import type { ExtractionRequest, ExtractionResult } from './extractionEngine.ts';

/** One request that a provider answered or failed: what it used is logged, whatever became of the work. */
export interface ModelCall {
  readonly ref: ModelRef;
  readonly owner: ModelAccess['owner'];
  readonly step: 'extraction' | 'repair' | 'ocr' | 'training';
  readonly usage: ModelUsage;
}

/** Which models do the work; null: the local engine does. */
export interface WorkModels {
  readonly llm: ModelAccess | null;
  readonly ocr: ModelAccess | null;
  /** What an artifact taught `llm`; left out: the prompt as it is. */
  readonly learned?: LearnedPrompt | undefined;
  /** `doubtful`: `llm` is asked only for fields that the local engine did not read surely. Left out: all. */
  readonly modelsFor?: 'all' | 'doubtful' | undefined;
  /** Told of each call, once it has ended. */
  readonly onCall: (call: ModelCall) => void;
}

export interface ModelFailed {
  readonly kind: 'model_failed';
  readonly failure: ModelFailure;
}

export type ModelExtractionResult = ExtractionResult | ModelFailed;
export type ModelConversionResult =
  { readonly kind: 'ok'; readonly rendition: Rendition } | ParseFailure | ModelFailed;

/**
 * Work on a document in which a model takes part. `extract`: at least one channel has a model; `ocr` counts
 * only for effort `robust`. `convert`: the OCR channel has one; effort `fast` shows it the pages as they are.
 */
export interface ModelWork {
  readonly extract: (request: ExtractionRequest, models: WorkModels) => Promise<ModelExtractionResult>;
  readonly convert: (request: RenderRequest, models: WorkModels) => Promise<ModelConversionResult>;
}
