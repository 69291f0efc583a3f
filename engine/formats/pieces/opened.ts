import type { ParseFailure, ParseResult } from '../../ports/documentParser.ts';
import type { ReadingTold } from './received.ts';
import type { LayoutTraits } from '../../layout/pages/layoutPages.ts';
import type { RecognitionWish } from '../../recognition/engines.ts';

/** The formats that can be told from their bytes (and, of texts, from the name). */
export type Format =
  | 'pdf'
  | 'png'
  | 'jpeg'
  | 'webp'
  | 'gif'
  | 'bmp'
  | 'tiff'
  | 'avif'
  | 'docx'
  | 'odt'
  | 'doc'
  | 'rtf'
  | 'xlsx'
  | 'xls'
  | 'ods'
  | 'csv'
  | 'eml'
  | 'msg'
  | 'tnef'
  | 'p7m'
  | 'pptx'
  | 'odp'
  | 'epub'
  | 'vcf'
  | 'ics'
  | 'ofx'
  | 'html'
  | 'markdown'
  | 'xml'
  | 'text';

/** What the bytes are. `text` holds the decoded text of a text, for telling the type has read it anyway. */
export type Sniffed =
  | { readonly kind: 'known'; readonly format: Format; readonly text: string | undefined }
  | { readonly kind: 'empty' }
  | { readonly kind: 'damaged'; readonly detail: string }
  | { readonly kind: 'unsupported'; readonly detail: string };

/** A file whose type is known, as an opener gets it. */
export interface SourceFile extends RecognitionWish {
  readonly bytes: Buffer;
  readonly fileName: string | null;
  readonly pagesMax: number;
  /** Opens an encrypted PDF. */
  readonly password?: string | undefined;
  /** Of the whole document, where only a part of it is read. */
  readonly traits?: LayoutTraits | undefined;
  /** Pages before these are read apart. */
  readonly isLaterPart?: boolean | undefined;
  readonly onReading?: ReadingTold | undefined;
  /** Told how many pages are read, while others are still recognised. */
  readonly onPagesRead?: ((done: number) => void) | undefined;
  /** The decoded text, of formats that are text. */
  readonly text: string | undefined;
  /** 0 for the file itself, 1 for what is attached to it, and so on. */
  readonly depth: number;
  /** Opens a file that is attached to this one. */
  readonly openPart: (part: Pick<SourceFile, 'bytes' | 'fileName'>) => Promise<OpenedDocument | ParseFailure>;
}

/**
 * A file whose type and pages are known. `read` gives a document of exactly so many pages; it is called
 * once, and only when the pages are within the cap.
 */
export interface OpenedDocument {
  readonly kind: 'open';
  readonly mimeType: string;
  readonly pages: number;
  /** Where only some are chosen: their numbers, and how many the whole document has. */
  readonly chosen?: { readonly numbers: readonly number[]; readonly total: number };
  /** `numbers`: only these pages are wanted, and others need not be read. */
  read(numbers?: readonly number[]): Promise<ParseResult>;
  /** What these pages show of the whole document's look; undefined where they show too little. Left out: nothing. */
  survey?(numbers: readonly number[]): Promise<LayoutTraits | undefined>;
}

/** Counts the pages of a file of one format; what cannot be read is a failure value, never thrown. */
export type Opener = (file: SourceFile) => Promise<OpenedDocument | ParseFailure>;
