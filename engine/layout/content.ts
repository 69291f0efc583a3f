import type { Box, RecognitionEngine } from '../document/document.ts';

/** Where in a word's text a small raised number stands: it may be the mark of a note, or an exponent. */
export interface RaisedNumber {
  readonly from: number;
  readonly to: number;
}

/** A word of a page with its place and look. */
export interface PlacedWord {
  readonly text: string;
  readonly box: Box;
  /** Height of the font in points. */
  readonly size: number;
  readonly bold: boolean;
  readonly italic: boolean;
  readonly mono: boolean;
  /** The font's name, where it is known. */
  readonly face?: string;
  /** Where it links to, if anywhere. */
  readonly link: string | null;
  /** 0..1; below 1 only where the word was recognised. */
  readonly confidence: number;
  /** Left out where the word was not recognised. */
  readonly readBy?: RecognitionEngine | undefined;
  readonly raised?: RaisedNumber | undefined;
  /** A space stands before it in the text that it is of, however narrow the gap. */
  readonly isSpaced?: boolean | undefined;
  /** The label of the note that it refers to. */
  readonly note?: string | undefined;
  /** The label of the note that begins with it. */
  readonly opensNote?: string | undefined;
}

/** A straight line along an axis: x0 = x1 or y0 = y1, nearly. */
export type Rule = Box;

/** What a page shows: the input of layout, whether from a text layer or recognised. */
export interface PageContent {
  readonly width: number;
  readonly height: number;
  readonly words: readonly PlacedWord[];
  readonly rules: readonly Rule[];
  /** Texts that do not lie level, such as stamps along an edge: they follow the page's other text. */
  readonly aside: readonly AsideText[];
}

export interface AsideText {
  readonly text: string;
  readonly box: Box;
}

/** Words side by side on one line without a wide gap, from left to right. */
export interface Segment {
  readonly words: readonly PlacedWord[];
  readonly box: Box;
  readonly size: number;
}

/** Segments at one height, from left to right. */
export interface Row {
  readonly segments: readonly Segment[];
  readonly box: Box;
}

/* By index: taking boxes apart costs an iterator each, and these run for every pair of words compared. */
export const middleY = (box: Box): number => (box[1] + box[3]) / 2;
export const widthOf = (box: Box): number => box[2] - box[0];
export const heightOf = (box: Box): number => box[3] - box[1];

/** The smallest box around all; the list is not empty. */
export function around(boxes: readonly Box[]): Box {
  let x0 = Infinity;
  let y0 = Infinity;
  let x1 = -Infinity;
  let y1 = -Infinity;
  for (const box of boxes) {
    x0 = Math.min(x0, box[0]);
    y0 = Math.min(y0, box[1]);
    x1 = Math.max(x1, box[2]);
    y1 = Math.max(y1, box[3]);
  }
  return [x0, y0, x1, y1];
}

/** The middle one by size; 0 of none. */
export function median(values: readonly number[]): number {
  // The words of a line are mostly of one size.
  const [first = 0] = values;
  if (values.every((value) => value === first)) return first;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** Grey values of a picture, one byte each. */
export interface Pixels {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/** A word of a picture: nothing is known of its font but its size. */
export const recognisedWord = (
  word: Pick<PlacedWord, 'text' | 'box' | 'size' | 'confidence' | 'readBy'>,
): PlacedWord => ({ ...word, bold: false, italic: false, mono: false, link: null });
