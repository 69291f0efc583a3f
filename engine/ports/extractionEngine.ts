import type { Box, DocumentWarning, PageSummary } from '../document/document.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import type { LocalArtifact } from '../learning/artifact.ts';
import type { ParseFailure, ParseRequest } from './documentParser.ts';

/** Where a value stands in the document: its words as they read there, and their box. */
export interface Citation {
  /** JSON Pointer into the value. */
  readonly path: string;
  readonly text: string;
  /** From 1. */
  readonly page: number;
  /** null where the format has no geometry. */
  readonly bbox: Box | null;
  readonly confidence: number;
}

/** Why a value does not fit the caller's schema. `actual` is what stood there, null when nothing did. */
export interface ValidationError {
  /** JSON Pointer; for a missing member, the pointer that it would have. */
  readonly path: string;
  readonly keyword: string;
  readonly message: string;
  readonly params: JsonObject;
  readonly actual: Json;
}

export interface ExtractionRequest extends ParseRequest {
  readonly schema: JsonObject;
  readonly citations: boolean;
  /** 0..1; values less sure than that are left out, and told as warnings. Left out: 0.5. */
  readonly minConfidence?: number | undefined;
  /** What the local engine was taught before; left out: its rules alone. */
  readonly learned?: LocalArtifact | undefined;
}

/** Data from a document. `value` keeps what is valid; what is not is in `validationErrors`. */
export interface Extraction {
  readonly mimeType: string;
  readonly value: JsonObject;
  readonly validationErrors: readonly ValidationError[];
  readonly citations: readonly Citation[];
  readonly pages: readonly PageSummary[];
  readonly warnings: readonly DocumentWarning[];
}

export type ExtractionResult =
  | { readonly kind: 'ok'; readonly extraction: Extraction }
  | { readonly kind: 'invalid_schema'; readonly detail: string }
  | ParseFailure;

/**
 * Turns a file and a JSON Schema into data. It takes the file, not a parsed document: so the local
 * engine parses, extracts and validates in one isolated job, and nothing heavy runs beside the API's
 * event loop. An engine that asks a model parses with a `DocumentParser` first.
 */
export interface ExtractionEngine {
  /** `<provider>/<model>`. */
  readonly name: string;
  extract(request: ExtractionRequest): Promise<ExtractionResult>;
}
