import type { Box } from '../document/document.ts';
import { around, type PlacedWord } from '../layout/content.ts';
import type { TextLine } from './ppocr/textLines.ts';

/** A line that one engine found, with the words of the other that lie on it. */
export interface SharedLine {
  readonly line: TextLine;
  readonly words: readonly PlacedWord[];
}

/** The words of each line, and those that lie on none. Bounded: lines are few hundred. */
export function sharedLines(
  lines: readonly TextLine[],
  words: readonly PlacedWord[],
): { readonly lines: readonly SharedLine[]; readonly apart: readonly PlacedWord[] } {
  const on = lines.map((): PlacedWord[] => []);
  const apart: PlacedWord[] = [];
  for (const word of words) {
    const own = on[lineOf(word.box, lines)];
    if (own === undefined) apart.push(word);
    else own.push(word);
  }
  return { lines: lines.map((line, i) => ({ line, words: inOrder(on[i] ?? []) })), apart };
}

/** What lies above and below the letters of a line, as a share of the whole: lines are read with white around them. */
const WHITE = 0.28;

/** The lines of words as they came: neighbours of one height are one line. */
export function ownLines(words: readonly PlacedWord[]): readonly SharedLine[] {
  const lines: PlacedWord[][] = [];
  for (const word of words) {
    const last = lines.at(-1)?.at(-1);
    const goesOn = last !== undefined && last.box[1] === word.box[1] && last.box[3] === word.box[3];
    if (goesOn && word.box[0] >= last.box[0]) lines.at(-1)?.push(word);
    else lines.push([word]);
  }
  return lines.map((own) => ({ line: lineAround(own.map(({ box }) => box)), words: own }));
}

/** A line to be read: boxes of letters with white around them. */
export function lineAround(boxes: readonly Box[]): TextLine {
  const [x0, y0, x1, y1] = around(boxes);
  const height = (y1 - y0) / (1 - WHITE);
  const white = height * WHITE;
  return { x: (x0 + x1) / 2, y: (y0 + y1) / 2, width: x1 - x0 + white, height, angle: 0 };
}

const inOrder = (words: readonly PlacedWord[]): readonly PlacedWord[] =>
  [...words].sort((a, b) => a.box[0] - b.box[0]);

/** The line whose middle is nearest to the word's, of those that it lies on; -1: none. */
function lineOf(box: Box, lines: readonly TextLine[]): number {
  const [x, y] = [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];
  let best = -1;
  let nearest = 0.5;
  for (let i = 0; i < lines.length; i += 1) {
    const line = lines[i];
    if (line === undefined || Math.abs(x - line.x) > line.width / 2 + line.height) continue;
    const [along, across] = within(line, x, y);
    const distance = Math.abs(across) / line.height;
    if (Math.abs(along) <= line.width / 2 && distance < nearest) {
      best = i;
      nearest = distance;
    }
  }
  return best;
}

function within({ x, y, angle }: TextLine, atX: number, atY: number): readonly [number, number] {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const [dx, dy] = [atX - x, atY - y];
  return [dx * cos + dy * sin, dy * cos - dx * sin];
}
