import type { DocumentWarning, PackedDocument } from '../document/document.ts';
import type { JsonObject } from '../kernel/json.ts';
import type {
  ParseFailure,
  ParseRequest,
  ReadResult,
  RenderRequest,
  RenderResult,
} from './documentParser.ts';
import type {
  ExtractionRequest,
  ExtractionResult,
  ValidationError,
  ValueCitation,
} from './extractionEngine.ts';
import type { ReadPage } from './modelProvider.ts';

/** A page of a PDF or a picture, as a model is shown it: upright, of bounded size. */
export interface PagePicture {
  /** From 1. */
  readonly page: number;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
  /** Nothing is on it: models that read blank pages make text up. */
  readonly blank: boolean;
}

/** `pages` is empty for formats without pages to look at: office files, mail, text. */
export type PicturesResult =
  | { readonly kind: 'ok'; readonly mimeType: string; readonly pages: readonly PagePicture[] }
  | ParseFailure;

/** A page that a model was to read, and what came of it. */
export type PageReading =
  | { readonly status: 'ok'; readonly page: ReadPage }
  | { readonly status: 'failed' | 'empty'; readonly number: number; readonly detail: string };

/** How long a piece of work may take; its own deadline, not the request's. */
export interface ToolLimits {
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
  /** As in `ParseRequest`. */
  readonly share: string;
}

/** A model's answer, held against the schema and against what stands on the pages. */
export interface GroundedValue {
  readonly kind: 'ok';
  /**
   * Keeps what is valid, and what does not fit the schema but stands on the pages: it has an error too. Nulls that
   * the schema does not allow are left out.
   */
  readonly value: JsonObject;
  readonly validationErrors: readonly ValidationError[];
  /** Of every value that says something, in the value's order. */
  readonly citations: readonly ValueCitation[];
  /** Of values that were left out, for they are less sure than asked for, or stand nowhere. */
  readonly warnings: readonly DocumentWarning[];
}

/** An answer that holds no JSON object that can be used: the model's fault, not the document's. */
export interface NoObject {
  readonly kind: 'no_object';
  /** What the model did, without a subject: `did not answer with JSON`. */
  readonly detail: string;
}

/** A field that is asked for, and the pages that speak of it. A list with all that is in it is one field. */
export interface RankedField {
  /** JSON Pointer into an answer. */
  readonly path: string;
  readonly isList: boolean;
  /** An answer without it does not fit the schema. */
  readonly isRequired: boolean;
  /** The best first. */
  readonly pages: readonly number[];
}

/** Which pages of a document speak of what. */
export interface PageRanks {
  readonly pages: readonly {
    readonly page: number;
    /** Characters of its text. */
    readonly characters: number;
    /** Pages of one look have one number: the same words over and over, whatever the figures. */
    readonly look: number;
    /** Most of it is rows of tables or short lines: names, signatures, addresses, no prose. */
    readonly isRecords: boolean;
  }[];
  readonly fields: readonly RankedField[];
}

/** Leaves that were right, leaves that were wrong or too many, leaves that are missing. */
export interface Counts {
  readonly tp: number;
  readonly fp: number;
  readonly fn: number;
}

/** A leaf that was expected or said. */
export interface ScoredLeaf {
  /** With `*` for places in lists. */
  readonly path: string;
  readonly counts: Counts;
  /** Where it stands in the answer, a JSON Pointer; null where the answer has no such place. */
  readonly at: string | null;
  /** What was wrong, as JSON, of bounded length; null: nothing. Left out where it is right. */
  readonly wrong?: { readonly expected: string | null; readonly got: string | null };
}

/** What is expected of a document, and what was written of it. */
export interface ScoredWork {
  readonly expected: JsonObject;
  readonly answer: string;
  /** Fields that nobody labelled are not compared: `learning/scoring/labelled.ts`. */
  readonly labelledOnly?: boolean;
}

/** How an answer compares with what was expected. */
export interface ScoredAnswer {
  readonly counts: Counts;
  /** F1, 0 to 1. */
  readonly score: number;
  readonly leaves: readonly ScoredLeaf[];
  /** A line for each field that is wrong; empty where all is right. */
  readonly feedback: readonly string[];
}

/** Most that a table of a tenant may have. */
export interface TableLimits {
  /** Without the names of its columns. */
  readonly rows: number;
  readonly columns: number;
  readonly cell_characters: number;
  readonly row_characters: number;
  /** Of all its lines. */
  readonly bytes: number;
}

/** The table that a file is: lines of JSON, each an array of texts, the first with the names of the columns. */
export type TableFile =
  | {
      readonly kind: 'table';
      readonly columns: readonly string[];
      readonly rows: number;
      readonly lines: Uint8Array;
      /** Of the lines. */
      readonly sha256: string;
    }
  | {
      readonly kind: 'beyond_limits';
      readonly limit: keyof TableLimits;
      readonly max: number;
      readonly detail: string;
    }
  | { readonly kind: 'no_table'; readonly detail: string };

/** Work on documents beside the API, in isolated processes: what model work needs of them. */
export interface DocumentTools {
  readonly pictures: (request: ParseRequest) => Promise<PicturesResult>;
  /** A document from what a model read of its pages: headings, lists, tables as its markdown has them. */
  readonly documentOf: (
    read: { readonly mimeType: string; readonly pages: readonly PageReading[] },
    limits: ToolLimits,
  ) => Promise<ReadResult>;
  readonly render: (
    document: PackedDocument,
    limits: ToolLimits & Pick<RenderRequest, 'form'>,
  ) => Promise<RenderResult>;
  /** The local extractor on a document that was read before. */
  readonly extractFrom: (
    work: Pick<ExtractionRequest, 'schema' | 'settings' | 'learned'> & {
      readonly document: PackedDocument;
    },
    limits: ToolLimits,
  ) => Promise<ExtractionResult>;
  /** `answer`: what the model wrote. */
  readonly ground: (
    work: Pick<ExtractionRequest, 'schema' | 'settings'> & {
      readonly document: PackedDocument;
      readonly answer: string;
      /** The first and the last page that the model was shown; left out: all. */
      readonly pages?: readonly [number, number] | undefined;
      /** Where its values stand, as parts of the document told: then it is not looked through again. */
      readonly cited?: readonly ValueCitation[] | undefined;
    },
    limits: ToolLimits,
  ) => Promise<GroundedValue | NoObject | ParseFailure>;
  /** Ranges of one document in their order, as it is when it is read in one piece, but for what runs over them. */
  readonly joined: (parts: readonly PackedDocument['packed'][], limits: ToolLimits) => Promise<ReadResult>;
  /** The text of a document as its pages are set: `document/layoutText.ts`. */
  readonly layoutText: (
    document: PackedDocument,
    limits: ToolLimits,
  ) => Promise<{ readonly kind: 'text'; readonly text: string } | ParseFailure>;
  /** Which pages of a text speak of what a schema asks for: `models/byModel/pageRanks.ts`. */
  readonly rankPages: (
    work: { readonly text: string; readonly schema: JsonObject },
    limits: ToolLimits,
  ) => Promise<{ readonly kind: 'ranked'; readonly ranks: PageRanks } | ParseFailure>;
  /** A CSV file or a workbook as a table: `formats/tableFile.ts`. */
  readonly tableFile: (
    request: ParseRequest & { readonly limits: TableLimits },
  ) => Promise<TableFile | ParseFailure>;
  /** How what a model wrote compares with what was expected: rows are paired, which takes time by their cube. */
  readonly score: (
    work: ScoredWork,
    limits: ToolLimits,
  ) => Promise<{ readonly kind: 'scored'; readonly scored: ScoredAnswer } | ParseFailure>;
}
