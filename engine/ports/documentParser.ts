import type { JsonObject } from '../kernel/json.ts';
import type { Code } from '../document/codes.ts';
import type { Chunk, ChunkWish } from '../document/chunks.ts';
import type { MarkdownForm } from '../document/markdown.ts';
import type { TableRows } from '../document/tableRows.ts';
import type { Block, Document, DocumentWarning, PackedDocument, PageSummary } from '../document/document.ts';

/**
 * Names one file between the jobs of one request: the process that opened it for the first job keeps it open
 * for the next, while it is not needed for others. `close` is called once, however the request ends.
 */
export interface KeptFile {
  readonly closed: AbortSignal;
  close(): void;
}

/** Nothing is open yet: the first job that names it opens the file. */
export function keptFile(): KeptFile {
  const controller = new AbortController();
  return { closed: controller.signal, close: () => controller.abort() };
}

/** How much work to put in: `standard` reads the text layer and OCRs pages without one. */
export type ParseEffort = 'fast' | 'standard' | 'robust';

export interface ParseRequest {
  /** A file on the local disk; it is only read. */
  readonly path: string;
  /** A hint, never trusted. */
  readonly fileName: string | null;
  readonly effort: ParseEffort;
  readonly pagesMax: number;
  /** Pages to read, as `pageChoice` spells them; left out: all. */
  readonly pages?: string | undefined;
  /** Opens an encrypted PDF. */
  readonly password?: string | undefined;
  /** Of the work itself: waiting for a free process, or for a processor, does not count. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Whose work it is, a tenant's ID in the service: processes are shared out by it. */
  readonly share: string;
  /** What the jobs of one request on this file have in common; left out: each opens it for itself. */
  readonly kept?: KeptFile | undefined;
  /** Told how many of the pages are read, where they are read one after the other, as scans are. */
  readonly onPagesRead?: ((done: number) => void) | undefined;
}

/** What a rendition has beside the whole markdown, and how its tables are written. */
export interface RenderForm extends MarkdownForm {
  /** Each page's markdown by itself. */
  readonly pageMarkdown?: boolean | undefined;
  /** Each page's blocks, in reading order. */
  readonly blocks?: boolean | undefined;
  /** A JSON Schema of the fields that the document has. */
  readonly proposedSchema?: boolean | undefined;
  /** QR codes and their like, with what they say. */
  readonly codes?: boolean | undefined;
  /** Parts for retrieval. */
  readonly chunks?: ChunkWish | undefined;
  /** Its tables as rows of texts. */
  readonly tableRows?: boolean | undefined;
}

export interface RenderRequest extends ParseRequest {
  readonly form?: RenderForm | undefined;
}

/** What a file is and how many pages it bills; the same function for quote, count, bill and ledger. */
export type Inspection =
  | {
      readonly kind: 'ok';
      readonly mimeType: string;
      /** Those that are chosen: they are read and billed. */
      readonly pages: number;
      /** Of the whole document. */
      readonly total: number;
    }
  | ParseFailure;

/** `detail` is a sentence for the caller; it names no path and no content. */
export type ParseFailure =
  | { readonly kind: 'empty'; readonly detail: string }
  | { readonly kind: 'unsupported'; readonly detail: string }
  | { readonly kind: 'unreadable'; readonly detail: string }
  | { readonly kind: 'wrong_password'; readonly detail: string }
  | { readonly kind: 'no_such_page'; readonly detail: string }
  | {
      readonly kind: 'too_many_pages';
      readonly pages: number;
      readonly pagesMax: number;
      readonly detail: string;
    }
  /** The work has had all the time of its deadline, and would take it again. */
  | { readonly kind: 'timed_out'; readonly detail: string }
  /** The machine had too much else to do: it says nothing of the file. */
  | { readonly kind: 'starved'; readonly detail: string }
  | { readonly kind: 'aborted' };

/** No process that works on documents can be started here, which says nothing of any document. The message says why. */
export class ProcessNotStarted extends Error {
  override readonly name = 'ProcessNotStarted';
}

export type ParseResult = { readonly kind: 'ok'; readonly document: Document } | ParseFailure;

export type ReadResult = { readonly kind: 'ok'; readonly document: PackedDocument } | ParseFailure;

/** Both renderings of a document, and what became of each page. */
export interface Rendition {
  readonly mimeType: string;
  readonly markdown: string;
  readonly plainText: string;
  readonly pages: readonly PageSummary[];
  readonly warnings: readonly DocumentWarning[];
  /** Where the form asks for them. */
  readonly pageContents?: readonly PageContents[] | undefined;
  /** Where the form asks for it. */
  readonly proposedSchema?: JsonObject | undefined;
  readonly codes?: readonly Code[] | undefined;
  readonly chunks?: readonly Chunk[] | undefined;
  readonly tableRows?: readonly TableRows[] | undefined;
}

export interface PageContents {
  readonly page: number;
  readonly markdown?: string;
  readonly blocks?: readonly Block[];
}

export type RenderResult = { readonly kind: 'ok'; readonly rendition: Rendition } | ParseFailure;

/** Parses files in isolation: a hostile file costs only its own request. */
export interface DocumentParser {
  inspect(request: ParseRequest): Promise<Inspection>;
  /** The document laid open: for tools that have a process of their own, never for the service. */
  parse(request: ParseRequest): Promise<ParseResult>;
  /** The document for further work in isolated processes. */
  read(request: ParseRequest): Promise<ReadResult>;
  /** Parses and renders beside the API: prefer it to `parse` where only the text is wanted. */
  render(request: RenderRequest): Promise<RenderResult>;
  close(): Promise<void>;
}
