import type { Marked } from './overlay.tsx';

/** Draws a page in small, and takes it away again. */
export type DrawSmall = (page: number, canvas: HTMLCanvasElement) => () => void;

/** What is known of a document once it is open. */
export interface Opened {
  readonly pages: number;
  readonly drawSmall: DrawSmall;
}

/** What every way to draw a document is given. */
export interface ViewProps {
  readonly file: File;
  readonly zoom: number;
  readonly marks: readonly Marked[];
  readonly chosen: string | undefined;
  readonly onChoose: (path: string) => void;
  readonly onOpened: (opened: Opened) => void;
  readonly onFault: () => void;
  /** Given while a value is corrected: takes the words of a box that is drawn. */
  readonly onDrawn?: ((words: string) => void) | undefined;
}
