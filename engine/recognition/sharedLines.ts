import type { Box } from '../document/document.ts';
import type { PlacedWord } from '../layout/content.ts';
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
