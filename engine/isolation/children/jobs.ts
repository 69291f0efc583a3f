import type {
  Inspection,
  ParseFailure,
  ParseResult,
  ReadResult,
  RenderForm,
  RenderResult,
} from '../../ports/documentParser.ts';
import type {
  GroundedValue,
  NoObject,
  PageReading,
  PicturesResult,
  PageRanks,
  ScoredAnswer,
  ScoredWork,
  TableFile,
  TableLimits,
} from '../../ports/documentTools.ts';
import type {
  ExtractionResult,
  ExtractionSettings,
  SchemaCheck,
  Validation,
  ValueCitation,
} from '../../ports/extractionEngine.ts';
import type { LearningResult, LearningTask } from '../../ports/training.ts';
import type { ClassifyResult, DocumentClass, SplitResult } from '../../ports/sorting.ts';
import type { LocalArtifact } from '../../ports/artifacts.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { FileFacts } from '../../formats/pieces/received.ts';
import type { LayoutTraits } from '../../layout/pages/layoutPages.ts';

/** The file as the pool is given it. */
export interface JobFile extends FileFacts {
  readonly path: string;
  /** The child keeps it open after the job, for the next one of the same request. */
  readonly keep: boolean;
}

/** The file as a child is told of it: no path, for its bytes come by a pipe. */
export interface SentFile extends FileFacts {
  /** null: the child has kept it open. */
  readonly bytesCount: number | null;
  readonly keep: boolean;
}

/** What came of pages that were read in parts. */
export interface PartsRead {
  /** Packed documents. */
  readonly parts: readonly Uint8Array[];
  /** Pages for which no time was left. */
  readonly late: readonly number[];
  /** Pages that ended the process which read them. */
  readonly failed: readonly number[];
  /** No page was looked at as closely as was asked for. */
  readonly isHurried: boolean;
}

/** Work on a part of a long document, or on all parts of one. */
type PartJob<File extends FileFacts> =
  | { readonly kind: 'survey'; readonly file: File; readonly numbers: readonly number[] }
  | { readonly kind: 'renderPart'; readonly file: File; readonly form?: RenderForm | undefined }
  /** The same of pages that were read before. */
  | { readonly kind: 'renderPartOf'; readonly packed: Uint8Array; readonly form?: RenderForm | undefined }
  | {
      readonly kind: 'extractPart';
      readonly packed: Uint8Array;
      /** Pages before it, packed: see `extraction/ranges/ownFindings.ts`. */
      readonly lead: Uint8Array | undefined;
      readonly schema: JsonObject;
      readonly settings: ExtractionSettings;
      readonly learned?: LocalArtifact | undefined;
    }
  | ({ readonly kind: 'joinRead' } & PartsRead)
  | { readonly kind: 'joinRendered'; readonly parts: readonly Uint8Array[] }
  | {
      readonly kind: 'joinExtracted';
      readonly parts: readonly Uint8Array[];
      readonly schema: JsonObject;
      readonly citations: boolean;
    };

/** Work for a child. Each kind has its answer in `Answers`. */
export type Job<File extends FileFacts = JobFile> =
  | { readonly kind: 'inspect' | 'parse' | 'read'; readonly file: File }
  | { readonly kind: 'render'; readonly file: File; readonly form?: RenderForm | undefined }
  | {
      readonly kind: 'extract';
      readonly file: File;
      readonly schema: JsonObject;
      readonly settings: ExtractionSettings;
      /** What the engine was taught before. */
      readonly learned?: LocalArtifact | undefined;
      readonly why?: boolean | undefined;
    }
  | ({ readonly kind: 'learn' } & LearningTask)
  | PartJob<File>
  | { readonly kind: 'pictures'; readonly file: File }
  | { readonly kind: 'tableFile'; readonly file: File; readonly limits: TableLimits }
  | { readonly kind: 'documentOf'; readonly mimeType: string; readonly pages: readonly PageReading[] }
  | {
      readonly kind: 'renderDocument';
      readonly packed: Uint8Array;
      readonly form?: RenderForm | undefined;
    }
  | {
      readonly kind: 'extractFrom';
      readonly packed: Uint8Array;
      readonly schema: JsonObject;
      readonly settings: ExtractionSettings;
      readonly learned?: LocalArtifact | undefined;
      readonly why?: boolean | undefined;
    }
  | {
      readonly kind: 'ground';
      readonly packed: Uint8Array;
      readonly schema: JsonObject;
      readonly settings: ExtractionSettings;
      readonly answer: string;
      readonly pages?: readonly [number, number] | undefined;
      readonly cited?: readonly ValueCitation[] | undefined;
    }
  | { readonly kind: 'layoutText'; readonly packed: Uint8Array }
  | {
      readonly kind: 'classify' | 'split';
      readonly packed: Uint8Array;
      readonly classes: readonly DocumentClass[];
    }
  | { readonly kind: 'rankPages'; readonly text: string; readonly schema: JsonObject }
  | ({ readonly kind: 'score' } & ScoredWork)
  | { readonly kind: 'checkSchema'; readonly schema: JsonObject }
  | { readonly kind: 'validate'; readonly schema: JsonObject; readonly value: JsonObject };

type RenderedPartResult = { readonly kind: 'part'; readonly part: Uint8Array } | ParseFailure;

export interface Answers {
  readonly inspect: Inspection;
  readonly parse: ParseResult;
  readonly read: ReadResult;
  readonly render: RenderResult;
  readonly extract: ExtractionResult;
  readonly learn: LearningResult;
  readonly survey: { readonly kind: 'surveyed'; readonly traits: LayoutTraits | undefined } | ParseFailure;
  readonly renderPart: RenderedPartResult;
  readonly renderPartOf: RenderedPartResult;
  readonly joinRead: ReadResult;
  readonly extractPart:
    | { readonly kind: 'part'; readonly part: Uint8Array; readonly lead: Uint8Array }
    | Extract<SchemaCheck, { readonly kind: 'invalid_schema' }>;
  readonly joinRendered: RenderResult;
  readonly joinExtracted: ExtractionResult;
  readonly pictures: PicturesResult;
  readonly tableFile: TableFile | ParseFailure;
  readonly documentOf: ReadResult;
  readonly renderDocument: RenderResult;
  readonly extractFrom: ExtractionResult;
  readonly ground: GroundedValue | NoObject | ParseFailure;
  readonly layoutText: { readonly kind: 'text'; readonly text: string };
  readonly classify: ClassifyResult;
  readonly split: SplitResult;
  readonly rankPages: { readonly kind: 'ranked'; readonly ranks: PageRanks };
  readonly score: { readonly kind: 'scored'; readonly scored: ScoredAnswer };
  readonly checkSchema: SchemaCheck;
  readonly validate: Validation;
}

/** What a child sends: that it is loaded; of a job how far it is, then the answer, or that its own code failed. */
export type ChildMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'progress'; readonly progress: unknown }
  | { readonly kind: 'reading'; readonly pages: readonly number[]; readonly isParsed: boolean }
  | {
      readonly kind: 'answer';
      readonly answer: unknown;
      /** The file of the job is still open. */
      readonly keeps: boolean;
      /** Files that were opened for the job. */
      readonly openings: number;
    }
  | { readonly kind: 'failed'; readonly message: string };

/**
 * A job as it is sent. `beside`: the file that the child keeps is the same request's, and stays open. `deadlineMs`: of
 * its own work, neither waiting nor pauses counted.
 */
export type SentJob = Job<SentFile> & { readonly beside?: true; readonly deadlineMs?: number };

/**
 * Of the deadline: then a child begins nothing more and answers with what it has. What is left is for what it is at,
 * and for the answer.
 */
export const HURRY_AFTER = 0.8;

/**
 * What a child is told: a job, that the time of its job is nearly used up, or that nobody needs the file any more
 * that it keeps.
 */
export type ToldToChild = SentJob | { readonly kind: 'putAway' } | { readonly kind: 'hurry' };

/** How a job ended for the pool. Only `answered` comes from the child's own words. */
export type JobOutcome = JobEnd & {
  /** The time that it worked, as its deadline counts it, ms; left out where it did not begin. */
  readonly workedMs?: number | undefined;
  /** The pages of the PDF that it read, if it had come to that. */
  readonly reading?: readonly number[] | undefined;
};

type JobEnd =
  | {
      readonly kind: 'answered';
      readonly answer: unknown;
      readonly keeps: boolean;
      readonly openings: number;
    }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'died' }
  | { readonly kind: 'out_of_memory' }
  /** It has worked for as long as it may. */
  | { readonly kind: 'timed_out' }
  /** The machine did not let it work for as long as it may, or killed its process before it was loaded. */
  | { readonly kind: 'starved' }
  /** Several processes in a row ended before they were loaded; the message says how the last one did. */
  | { readonly kind: 'not_started'; readonly message: string }
  | { readonly kind: 'aborted' };
