import type { Json } from '../kernel/json.ts';
import type { Box } from './box.ts';
import type { Code } from './codes.ts';

export type { Box } from './box.ts';

/** Where a text comes from; `both`: a text layer, with what was recognised beside it. */
export type TextSource = 'text_layer' | 'ocr' | 'both' | 'model' | 'markup';

/** What reads pictures: both run in the processes that parse. */
export const RECOGNITION_ENGINES = ['tesseract', 'ppocr'] as const;
export type RecognitionEngine = (typeof RECOGNITION_ENGINES)[number];

/** A word as placed on a page. `confidence` 0..1 is that of OCR; 1 elsewhere. */
export interface Word {
  readonly text: string;
  /** null where the format has no geometry. */
  readonly box: Box | null;
  /** The box of what it stands in, such as a paragraph or a cell, where a provider placed that alone. */
  readonly within?: Box | undefined;
  /** Where its text began on an earlier page than the word stands on. */
  readonly page?: number | undefined;
  readonly confidence: number;
  /** Left out where the word was not recognised. */
  readonly readBy?: RecognitionEngine | undefined;
  readonly fontSize: number | null;
  readonly bold: boolean;
}

/**
 * All words at one height of the page, from left to right, with the text as it reads. Where there is no
 * geometry, a tab or two spaces in `text` part columns.
 */
export interface Line {
  readonly text: string;
  readonly box: Box | null;
  readonly words: readonly Word[];
}

export interface TableCell {
  readonly text: string;
  /** With inline marks, where the format has them. */
  readonly markdown?: string | undefined;
  /** As of a block. */
  readonly whole?: string | undefined;
  /** It is the lower part of the cell above it, at the end of the page before. */
  readonly continues?: true | undefined;
  readonly box: Box | null;
  readonly row: number;
  readonly column: number;
  readonly rowSpan: number;
  readonly columnSpan: number;
}

/** A text that may run over the end of a page. */
interface RunningText {
  readonly text: string;
  /** It goes on with the last block of the page before: in a new line of it, or amid a line. */
  readonly continues?: 'line' | 'text' | undefined;
  readonly box: Box | null;
}

interface InlineText extends RunningText {
  readonly markdown: string;
  /** As the stretch stands in the markdown of the whole text, where that is not `markdown`. */
  readonly whole?: string | undefined;
}

/** Blocks in reading order. Markdown inline marks (`**`, links) live in `markdown` where known. */
export type Block =
  | ({ readonly kind: 'heading'; readonly level: 1 | 2 | 3 | 4 | 5 | 6 } & InlineText)
  | ({ readonly kind: 'paragraph' } & InlineText)
  | ({
      readonly kind: 'list_item';
      readonly ordered: boolean;
      readonly number: number | null;
      readonly depth: number;
    } & InlineText)
  | {
      readonly kind: 'table';
      readonly rows: number;
      readonly columns: number;
      readonly headerRows: number;
      /**
       * It goes on with the last table of the page before, whose header its own header rows repeat; `row`: its
       * first row below them goes on with the last row there; `cell`: so does the text of each cell, amid a line.
       */
      readonly continues?: 'table' | 'row' | 'cell' | undefined;
      readonly cells: readonly TableCell[];
      readonly box: Box | null;
    }
  | ({ readonly kind: 'code'; readonly language: string | null } & RunningText)
  | ({ readonly kind: 'image' } & RunningText);

/** What became of a page, as answers tell it. */
export interface PageSummary {
  /** From 1. */
  readonly page: number;
  readonly status: PageStatus;
  readonly source: TextSource;
  /** Why it is not `ok`, or what became of a text layer in doubt. */
  readonly detail: string | null;
  /** Points, of the page as boxes on it are measured; null where the format has no geometry. */
  readonly width: number | null;
  readonly height: number | null;
  /** Degrees, clockwise, that the page as it is shown is turned by before boxes are measured; left out: 0. */
  readonly rotation?: 0 | 90 | 180 | 270 | undefined;
}

/** `partial`: some of it could not be read. `empty`: nothing is on it. `skipped`: this mode does not read it. */
type PageStatus = 'ok' | 'partial' | 'empty' | 'failed' | 'skipped';

export interface DocumentPage extends PageSummary {
  readonly lines: readonly Line[];
  readonly blocks: readonly Block[];
}

/**
 * `low_confidence`: a value that was seen, but left out; without one it counts the rest of them. `inexact_number`:
 * digits that were asked for as a number, and that no number holds. `readings_differ`: what the embedded engine
 * read where the answer has a model's other value.
 */
export type DocumentWarning =
  | {
      readonly code: 'no_text_found' | 'hidden_text' | 'garbled_text' | 'page_failed' | 'not_computed';
      readonly message: string;
    }
  /** `merged`: several parts of a long document said it, and it is kept once. `contradicted`: they disagree. */
  | {
      readonly code: 'not_grounded' | 'merged' | 'contradicted';
      readonly message: string;
      /** JSON Pointer into the answer; of items, that of their list. */
      readonly path?: string;
      /** What was left out; of `merged`, a list. */
      readonly value?: Json;
    }
  | {
      readonly code: 'deadline_reached';
      readonly message: string;
      /** Pages that were not looked at. */
      readonly pages?: readonly number[];
      /** JSON Pointers of what was not looked for. */
      readonly paths?: readonly string[];
    }
  | {
      /**
       * A model gave no answer for these pages, or was not shown them: nothing pointed to them. Or they were not looked
       * through for codes.
       */
      readonly code: 'pages_not_answered' | 'pages_not_shown' | 'codes_not_read';
      readonly message: string;
      readonly pages: readonly number[];
    }
  | ({
      readonly code: 'low_confidence' | 'inexact_number' | 'readings_differ' | 'balance_off';
      readonly message: string;
    } & Partial<Omit<SeenValue, 'inexact' | 'page' | 'expected'> & { readonly page: number }>);

/** A value that was read somewhere, and how sure it is. */
export interface SeenValue {
  /** JSON Pointer into the answer; of an item that was left out, that of its list. */
  readonly path: string;
  readonly value: Json;
  readonly text: string;
  /** From 1; null where a model told it and it stands nowhere. */
  readonly page: number | null;
  /** null where the format has no geometry. */
  readonly bbox: Box | null;
  readonly confidence: number;
  /** Digits that were asked for as a number, and that no number holds. */
  readonly inexact?: boolean;
  /** Of a balance that was read, what it is by the rows before it. */
  readonly expected?: number;
}

/** A parsed document: what markdown renders and extraction cites. Its pages are the billing unit. */
export interface Document {
  readonly mimeType: string;
  readonly pages: readonly DocumentPage[];
  readonly warnings: readonly DocumentWarning[];
  /** Where they were looked for. */
  readonly codes?: readonly Code[] | undefined;
  /** Of a PDF that carries its invoice as data, where its first page is here. */
  readonly invoice?: EmbeddedInvoice | undefined;
}

/** What an invoice says that lies in a PDF as data: texts by concepts, such as `iban` or `seller.vat_id`. */
export interface EmbeddedInvoice {
  readonly said: Readonly<Record<string, string>>;
  /** Its lines, in their order. */
  readonly rows: readonly Readonly<Record<string, string>>[];
}

/**
 * A document as it travels between isolated processes. They alone unpack it: unpacking thousands of words
 * would hold the main thread, as would each walk over them.
 */
export interface PackedDocument {
  readonly mimeType: string;
  readonly pages: readonly PageSummary[];
  readonly warnings: readonly DocumentWarning[];
  /** Some page has text. */
  readonly hasText: boolean;
  /** As models are shown it (`modelTextOf`). */
  readonly markdown: string;
  readonly packed: Uint8Array;
}

/** A page without its contents. */
export const pageSummary = ({ lines: _, blocks: __, ...summary }: DocumentPage): PageSummary => summary;

export type TableBlock = Extract<Block, { readonly kind: 'table' }>;

/** The texts of a table by row and column; a spanning cell stands in each place that it covers. */
export function tableGrid(
  table: TableBlock,
  textOf: (cell: TableCell) => string = ({ text }) => text,
): readonly (readonly string[])[] {
  const grid = Array.from({ length: table.rows }, () => Array<string>(table.columns).fill(''));
  for (const cell of table.cells) {
    for (const row of grid.slice(cell.row, cell.row + cell.rowSpan))
      row.fill(textOf(cell), cell.column, cell.column + cell.columnSpan);
  }
  return grid;
}

/** A table from its rows of texts, without spans and boxes. Short rows are filled with empty cells. */
export function tableOf(rows: readonly (readonly string[])[], headerRows: number): TableBlock {
  const columns = rows.reduce((widest, row) => Math.max(widest, row.length), 0);
  const cells = rows.flatMap((texts, row) =>
    texts.map((text, column) => ({ text, box: null, row, column, rowSpan: 1, columnSpan: 1 })),
  );
  return { kind: 'table', rows: rows.length, columns, headerRows, cells, box: null };
}
