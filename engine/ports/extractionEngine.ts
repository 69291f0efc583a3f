import { z } from 'zod';
import type { Box, DocumentWarning, PackedDocument, PageSummary } from '../document/document.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import type { LocalArtifact } from './artifacts.ts';
import type { ParseFailure, ParseRequest, RenderRequest, RenderResult } from './documentParser.ts';
import type { FieldWhy, Generator } from './why.ts';

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
  /** What found it; left out in results of earlier releases. */
  readonly by?: Generator;
}

/** A citation of the embedded engine, which says what found the value. */
export type LocalCitation = Citation & { readonly by: Generator };

/**
 * How the document says a value that a model told: letter by letter; in another way of writing; so that it follows
 * from what stands there, or is picked for it; not at all.
 */
export type Grounding = 'exact' | 'normalised' | 'derived' | 'none';

/** What is said of where a value comes from. `grounding` is left out where the local engine read it. */
export type ValueCitation =
  | (Citation & { readonly grounding?: Exclude<Grounding, 'none'> })
  | {
      readonly path: string;
      readonly text: '';
      readonly page: null;
      readonly bbox: null;
      readonly confidence: number;
      readonly grounding: 'derived' | 'none';
      readonly by?: Generator;
    };

/** Why a value does not fit the caller's schema. `actual` is what stood there, null when nothing did. */
export interface ValidationError {
  /** JSON Pointer; for a missing member, the pointer that it would have. */
  readonly path: string;
  readonly keyword: string;
  readonly message: string;
  readonly params: JsonObject;
  readonly actual: Json;
}

/** Members of `ExtractionSettings`, by their names on every wire: a request, a saved config, a queued task. */
export const settingMembers = {
  /** Whether the answer says where its values stand. */
  citations: z.boolean(),
  /** 0 to 1: values with less confidence are left out, and told as warnings. Left out: 0.5. */
  min_confidence: z.number().min(0).max(1),
  /** `doubtful`: a model is asked only for fields that the local engine did not read surely. Left out: all. */
  models_for: z.enum(['all', 'doubtful']),
  /** `relevant`: of a long document a model is shown the pages about what is asked for. Left out: `relevant`. */
  shown_pages: z.enum(['relevant', 'all']),
  /** `layout`: a model is shown columns and rows separated by spaces. Left out: `markdown`. */
  shown_text: z.enum(['markdown', 'layout']),
  /** Values that a model told and that stand nowhere are left out. Left out: they are told as such. */
  require_grounding: z.boolean(),
};

const { citations, ...optional } = settingMembers;

/** A caller's settings of one extraction, the same from the body of a request to the process that does the work. */
export const extractionSettings = z.object({ citations, ...z.object(optional).partial().shape });

export type ExtractionSettings = Readonly<z.output<typeof extractionSettings>>;

export interface ExtractionRequest extends ParseRequest {
  readonly schema: JsonObject;
  readonly settings: ExtractionSettings;
  /** What the local engine was taught before; left out: its rules alone. */
  readonly learned?: LocalArtifact | undefined;
  /** The answer tells all offers that its values were chosen from. */
  readonly why?: boolean | undefined;
}

/** JSON Pointers of fields by who read them: a member, or a list as a whole. `both`: they say the same. */
export interface ReadBy {
  readonly engine: readonly string[];
  readonly model: readonly string[];
  readonly both: readonly string[];
}

/** Data from a document. `value` keeps what is valid; what is not is in `validationErrors`. */
export interface Extraction {
  readonly mimeType: string;
  readonly value: JsonObject;
  readonly validationErrors: readonly ValidationError[];
  readonly citations: readonly ValueCitation[];
  readonly pages: readonly PageSummary[];
  readonly warnings: readonly DocumentWarning[];
  /** Where a model was asked only for what was doubtful. */
  readonly readBy?: ReadBy | undefined;
  /** Where it was asked for: the offers for each field. */
  readonly why?: readonly FieldWhy[] | undefined;
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

/**
 * `unavailable`: the work did not end. It had all of its time or memory (`too_costly`); or the machine had too much
 * else to do (`starved`), or it was given up (`aborted`), which say nothing of the schema.
 */
export type SchemaCheck =
  | { readonly kind: 'ok' }
  | { readonly kind: 'invalid_schema'; readonly detail: string }
  | {
      readonly kind: 'unavailable';
      readonly why: 'too_costly' | 'starved' | 'aborted';
      readonly detail: string;
    };

export type Validation =
  | {
      readonly kind: 'ok';
      /** The value without the members that do not fit. */
      readonly value: JsonObject;
      readonly errors: readonly ValidationError[];
    }
  | Exclude<SchemaCheck, { readonly kind: 'ok' }>;

/** Whose work it is, as in `ParseRequest`: the process that keeps the request's file open checks its schema too. */
type SchemaCaller = Pick<ParseRequest, 'signal' | 'share' | 'kept'>;

/** Checks schemas that callers supply, isolated: a hostile pattern costs only its own request. */
export interface SchemaValidator {
  /** The rules of the interface (`engine/extraction/schema/schemaRules.ts`), then a full compilation. */
  check(schema: unknown, by: SchemaCaller): Promise<SchemaCheck>;
  validate(schema: JsonObject, value: JsonObject, by: SchemaCaller): Promise<Validation>;
}

/** Where the parts of a long document lie until all are there: not in memory, and beyond the end of a process. */
export interface PartShelf {
  /** undefined where it was not put yet. */
  readonly find: (name: string) => Promise<Uint8Array | undefined>;
  readonly put: (name: string, bytes: Uint8Array) => Promise<void>;
}

/** What a process tells of the ranges of a document. */
export interface RangeTurn {
  /** What is made of each range: no two of these are mixed. */
  readonly part: string;
  readonly ranges: number;
  /** Those that were read here since the last turn, by their places from 0. */
  readonly done: readonly number[];
}

/** Ranges of one document that several processes read: each takes some that nobody has. */
export interface RangeTurns {
  /**
   * Tells what is done and takes others, until this process has `most`. Gives all that it has now, and those that are
   * read, whoever read them.
   */
  readonly take: (
    turn: RangeTurn & { readonly most: number },
  ) => Promise<{ readonly mine: readonly number[]; readonly done: ReadonlySet<number> }>;
  /** Tells what is done, and gives back what this process has. */
  readonly leave: (turn: RangeTurn) => Promise<void>;
}

/** A document that is read in ranges of its pages. */
export type Ranged<Request extends ParseRequest> = Omit<Request, 'kept' | 'pages'> & {
  /** The pages to read, by their numbers, which rise. */
  readonly numbers: readonly number[];
  readonly shelf: PartShelf;
  /** Other processes read ranges of it too; left out: this one reads all. */
  readonly turns?: RangeTurns | undefined;
  /** Told how many pages are done, of those in `numbers`. */
  readonly onPages: (done: number) => void;
};

/** Ranges of a document that another process joins. How they are read lies on the shelf. */
export interface RangesToHelp extends Pick<ParseRequest, 'path' | 'password' | 'signal' | 'share'> {
  readonly shelf: PartShelf;
  readonly turns: RangeTurns;
  /** What is made of each range, as the turns have it. */
  readonly part: string;
}

/**
 * Work on long PDFs: ranges of their pages are read by several processes, and joined in order. Parts that are
 * on the shelf already are not made again.
 */
export interface RangedWork {
  /** The ranges as they were read, in order, for work that joins them itself. */
  read(
    request: Ranged<ParseRequest>,
  ): Promise<{ readonly kind: 'ok'; readonly parts: readonly PackedDocument[] } | ParseFailure>;
  render(request: Ranged<RenderRequest>): Promise<RenderResult>;
  extract(request: Ranged<ExtractionRequest>): Promise<ExtractionResult>;
  /** Reads ranges of a document that another process joins, until none is left to take. Gives what one failed with. */
  help(request: RangesToHelp): Promise<ParseFailure | undefined>;
}
