import type { Document } from '../document/document.ts';

/** How much work to put in: `standard` reads the text layer and OCRs pages without one. */
export type ParseEffort = 'fast' | 'standard' | 'robust';

export interface ParseRequest {
  /** A file on the local disk; it is only read. */
  readonly path: string;
  /** A hint, never trusted. */
  readonly fileName: string | null;
  readonly effort: ParseEffort;
  readonly pagesMax: number;
  readonly deadlineMs: number;
  readonly signal?: AbortSignal;
}

/** What a file is and how many pages it bills; the same function for quote, count, bill and ledger. */
export type Inspection =
  { readonly kind: 'ok'; readonly mimeType: string; readonly pages: number } | ParseFailure;

export type ParseFailure =
  | { readonly kind: 'unsupported'; readonly detail: string }
  | { readonly kind: 'unreadable'; readonly detail: string }
  | { readonly kind: 'too_many_pages'; readonly pages: number; readonly pagesMax: number }
  | { readonly kind: 'timed_out'; readonly detail: string }
  | { readonly kind: 'aborted' };

export type ParseResult = { readonly kind: 'ok'; readonly document: Document } | ParseFailure;

/** Parses files in isolation: a hostile file costs only its own request. */
export interface DocumentParser {
  inspect(request: ParseRequest): Promise<Inspection>;
  parse(request: ParseRequest): Promise<ParseResult>;
  close(): Promise<void>;
}
