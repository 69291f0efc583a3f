import type { LayoutTraits } from '../../layout/pages/layoutPages.ts';
import type { RecognitionWish } from '../../recognition/engines.ts';

/** What is known of a file that a job reads. */
export interface FileFacts extends RecognitionWish {
  readonly fileName: string | null;
  readonly pagesMax: number;
  /** As in `ParseRequest`. */
  readonly pages?: string | undefined;
  readonly password?: string | undefined;
  readonly traits?: LayoutTraits | undefined;
  /** Pages before those that are chosen are read apart. */
  readonly isLaterPart?: boolean | undefined;
}

/** Told of the pages of a PDF before they are parsed, and when they were. */
export type ReadingTold = (pages: readonly number[], isParsed: boolean) => void;

/** The file as the child has it. */
export interface ReceivedFile extends FileFacts {
  readonly bytes: Buffer;
  readonly onReading?: ReadingTold | undefined;
  /** Told how many pages are read, while others are still recognised. */
  readonly onPagesRead?: ((done: number) => void) | undefined;
}
