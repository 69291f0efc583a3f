import type { LearnedPrompt } from './artifacts.ts';
import type { ModelRef, ModelAccess, ModelFailure, ModelUsage } from './modelProvider.ts';
import type { ParseFailure, RenderRequest, Rendition } from './documentParser.ts';
import type { ExtractionRequest, ExtractionResult, PartShelf, RangeTurns } from './extractionEngine.ts';

/** One request that a provider answered or failed: what it used is logged, whatever became of the work. */
export interface ModelCall {
  readonly ref: ModelRef;
  readonly owner: ModelAccess['owner'];
  readonly step: 'extraction' | 'repair' | 'ocr' | 'training';
  readonly usage: ModelUsage;
  /**
   * Names the call where it may be told again: by an attempt that goes on from what an earlier one kept. Left out: it
   * is told once.
   */
  readonly id?: string;
  /** It was made by an earlier attempt, and is told again. */
  readonly again?: true;
}

/** How work goes on that another process began: it is told the same `onCall` for each call that it need not make. */
export interface Keeping {
  readonly shelf: PartShelf;
  /** Told how many pages are done, of those of the document. */
  readonly onPages: (done: number) => void;
  /** The pages of a document that is too long to be read in one piece; left out: it is read so. */
  readonly numbers?: readonly number[] | undefined;
  /** Other processes read ranges of these pages too; left out: this one reads all. */
  readonly turns?: RangeTurns | undefined;
}

/** Which models do the work; null: the local engine does. */
export interface WorkModels {
  readonly llm: ModelAccess | null;
  readonly ocr: ModelAccess | null;
  /** What an artifact taught `llm`; left out: the prompt as it is. */
  readonly learned?: LearnedPrompt | undefined;
  /** Told of each call, once it has ended. */
  readonly onCall: (call: ModelCall) => void;
}

export interface ModelFailed {
  readonly kind: 'model_failed';
  readonly failure: ModelFailure;
}

export type ModelExtractionResult = ExtractionResult | ModelFailed;
export type ModelConversionResult =
  | { readonly kind: 'ok'; readonly rendition: Rendition }
  | ParseFailure
  | ModelFailed;

/**
 * Work on a document in which a model takes part. `extract`: at least one channel has a model; `ocr` counts
 * only for effort `robust`. `convert`: the OCR channel has one; effort `fast` shows it the pages as they are.
 */
export interface ModelWork {
  readonly extract: (
    request: ExtractionRequest,
    models: WorkModels,
    keeping?: Keeping,
  ) => Promise<ModelExtractionResult>;
  readonly convert: (
    request: RenderRequest,
    models: WorkModels,
    keeping?: Keeping,
  ) => Promise<ModelConversionResult>;
}
