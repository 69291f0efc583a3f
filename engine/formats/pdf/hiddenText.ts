import type { ParsedPage } from '../../recognition/liteparse.ts';
import type { Box } from '../../document/document.ts';
import type { InkedWord } from './pdfWords.ts';

/** Smaller text cannot be read by a person. */
const TINY_POINTS = 2;
/** Colours nearer than this in every channel (of 255) cannot be told apart. */
const SAME_COLOR = 12;

export interface Sighted {
  readonly visible: readonly InkedWord[];
  /** Cannot be seen whatever lies behind: tiny, transparent, drawn without ink, off the page. */
  readonly hidden: readonly InkedWord[];
  /** Of the colour of what is drawn behind; a picture of the page decides. */
  readonly doubtful: readonly InkedWord[];
}

/** Tells words that a reader sees from those that only a machine would. */
export function sightOf(words: readonly InkedWord[], page: ParsedPage): Sighted {
  const visible: InkedWord[] = [];
  const hidden: InkedWord[] = [];
  const doubtful: InkedWord[] = [];
  const fills = fillsOf(page);
  for (const word of words) {
    if (isUnseen(word, page)) hidden.push(word);
    else if (isOfBackground(word, fills)) doubtful.push(word);
    else visible.push(word);
  }
  return { visible, hidden, doubtful };
}

function isUnseen({ size, color, box, isInvisible }: InkedWord, { width, height }: ParsedPage): boolean {
  const tiny = size < TINY_POINTS && box[3] - box[1] < TINY_POINTS;
  const off = box[2] < 0 || box[3] < 0 || box[0] > width || box[1] > height;
  return tiny || off || isInvisible || color?.startsWith('00') === true;
}

/** What is filled with a colour that lets nothing through. */
interface Fill {
  readonly box: Box;
  readonly color: string;
}

/** The fills of a page, the last drawn last. Pages have more words than fills, and all are looked at for each. */
const fillsOf = ({ vectorGraphics }: ParsedPage): readonly Fill[] =>
  (vectorGraphics?.shapes ?? []).flatMap(({ fill, fillColor, bbox: { x, y, width, height } }) =>
    fill && fillColor?.startsWith('ff') === true
      ? [{ box: [x, y, x + width, y + height] as const, color: fillColor }]
      : [],
  );

const PAPER = 'ffffffff';

function isOfBackground({ color, box }: InkedWord, fills: readonly Fill[]): boolean {
  if (color === null) return false;
  const x = (box[0] + box[2]) / 2;
  const y = (box[1] + box[3]) / 2;
  let behind = PAPER;
  for (let at = fills.length - 1; at >= 0; at -= 1) {
    const fill = fills[at];
    if (fill === undefined || x < fill.box[0] || x > fill.box[2] || y < fill.box[1] || y > fill.box[3])
      continue;
    behind = fill.color;
    break;
  }
  return areAlike(color, behind);
}

/** Channel by channel, the first that differs decides: most do at once. */
const areAlike = (a: string, b: string): boolean => isNear(a, b, 2) && isNear(a, b, 4) && isNear(a, b, 6);

const isNear = (a: string, b: string, at: number): boolean =>
  Math.abs(channel(a, at) - channel(b, at)) < SAME_COLOR;

const channel = (color: string, at: number): number =>
  16 * hexDigit(color.charCodeAt(at)) + hexDigit(color.charCodeAt(at + 1));

/** NaN for what is no digit: no colour is near to that. */
function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const letter = (code | 32) - 97;
  return letter >= 0 && letter <= 5 ? letter + 10 : Number.NaN;
}

/** Grey values of a page's picture, and how many of its pixels make a point. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly grey: Uint8Array;
  readonly scale: number;
}

/** Whether anything can be told from its surroundings in a box of the picture. */
export function hasInk({ width, height, grey, scale }: Picture, [x0, y0, x1, y1]: Box): boolean {
  let least = 255;
  let most = 0;
  for (let y = Math.max(0, Math.floor(y0 * scale)); y < Math.min(height, Math.ceil(y1 * scale)); y += 1) {
    for (let x = Math.max(0, Math.floor(x0 * scale)); x < Math.min(width, Math.ceil(x1 * scale)); x += 1) {
      const value = grey[y * width + x] ?? 255;
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
  }
  return most - least >= 2 * SAME_COLOR;
}
