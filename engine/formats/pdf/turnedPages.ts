import type { Block, Box, Line } from '../../document/document.ts';
import type { PageContent } from '../../layout/content.ts';

/** How far a page's text is turned from the level, clockwise. */
export type Turn = 0 | 90 | 180 | 270;

/** Degrees off a quarter that a text may lie. */
const QUARTER_TOLERANCE = 5;

/** What can be turned. */
interface Turned {
  /** Degrees, counted clockwise. */
  readonly rotation: number;
}

/** The quarter turn at which a word lies; undefined where it lies aslant. */
export function turnOfWord({ rotation }: Turned): Turn | undefined {
  const turn = ((Math.round(rotation / 90) * 90) % 360) + (rotation < -45 ? 360 : 0);
  const off = Math.abs(((rotation - turn + 540) % 360) - 180);
  return off < QUARTER_TOLERANCE ? ((turn % 360) as Turn) : undefined;
}

/** A page is turned when this much of its text is. */
const TURNED_SHARE = 0.6;

/** The turn at which most of a page's letters lie. */
export function turnOfPage(words: readonly (Turned & { readonly text: string })[]): Turn {
  const letters = new Map<Turn | undefined, number>();
  let all = 0;
  for (const word of words) {
    const turn = turnOfWord(word);
    letters.set(turn, (letters.get(turn) ?? 0) + word.text.length);
    all += word.text.length;
  }
  const turned = ([90, 180, 270] as const).find((turn) => (letters.get(turn) ?? 0) > TURNED_SHARE * all);
  return turned ?? 0;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** A box of a page of that size, as it lies when the page is turned so that its text is level. */
export function levelBox(box: Box, turn: Turn, { width, height }: Size): Box {
  const [x0, y0, x1, y1] = box;
  switch (turn) {
    case 0:
      return box;
    case 90:
      return [y0, width - x1, y1, width - x0];
    case 180:
      return [width - x1, height - y1, width - x0, height - y0];
    case 270:
      return [height - y1, x0, height - y0, x1];
  }
}

/** The page's size when it is turned so. */
export const levelSize = ({ width, height }: Size, turn: Turn): Size =>
  turn === 90 || turn === 270 ? { width: height, height: width } : { width, height };

const back = (turn: Turn): Turn => ((360 - turn) % 360) as Turn;

/** A page's content, turned so that its text is level. `content` is as the page is shown. */
export function levelContent<C extends PageContent>(content: C, turn: Turn): C {
  if (turn === 0) return content;
  const boxOf = (box: Box): Box => levelBox(box, turn, content);
  return {
    ...content,
    ...levelSize(content, turn),
    words: content.words.map((word) => ({ ...word, box: boxOf(word.box) })),
    rules: content.rules.map(boxOf),
    aside: content.aside.map((text) => ({ ...text, box: boxOf(text.box) })),
  };
}

/** Blocks of a turned page, with their places as the page is shown. `size` is that of the turned page. */
export function blocksAsShown(blocks: readonly Block[], turn: Turn, size: Size): readonly Block[] {
  if (turn === 0) return blocks;
  const boxOf = (box: Box | null): Box | null => (box === null ? null : levelBox(box, back(turn), size));
  return blocks.map((block): Block => {
    if (block.kind !== 'table') return { ...block, box: boxOf(block.box) };
    const cells = block.cells.map((cell) => ({ ...cell, box: boxOf(cell.box) }));
    return { ...block, box: boxOf(block.box), cells };
  });
}

/** Lines of a turned page, with their places as the page is shown. `size` is that of the turned page. */
export function linesAsShown(lines: readonly Line[], turn: Turn, size: Size): readonly Line[] {
  if (turn === 0) return lines;
  const boxOf = (box: Box | null): Box | null => (box === null ? null : levelBox(box, back(turn), size));
  return lines.map((line) => ({
    ...line,
    box: boxOf(line.box),
    words: line.words.map((word) => ({ ...word, box: boxOf(word.box) })),
  }));
}
