import type { Block, Line } from '../../document/document.ts';
import { charactersIn } from '../../document/pages.ts';
import { boundaryIn } from '../../document/textCuts.ts';

/** A block of a flow, with its lines. */
export interface FlowBlock {
  readonly block: Block;
  readonly lines: readonly Line[];
}

/** Where a page ends: before a line of a block, or `at` UTF-16 units into it. */
export interface PageCut {
  readonly block: number;
  readonly line: number;
  readonly at: number;
}

/** How much stands on each page of a flow. */
export interface Shares {
  /** At most so many; fewer where some would have nothing on them. */
  readonly pages: number;
  /** Characters a page. */
  readonly share: number;
}

/**
 * Where the pages of a flow end: each at the last line, else sentence, else word before its share of the characters
 * is full. The shares are counted from the beginning, so that short pages do not make more of them.
 */
export function pageCutsOf(flow: readonly FlowBlock[], shares: Shares): readonly PageCut[] {
  const cutter = new Cutter(shares);
  for (const [index, { block, lines }] of flow.entries())
    for (const [line, { text }] of lines.entries())
      cutter.read(text, { block: index, line, isRow: block.kind === 'table' });
  return cutter.ended();
}

/** Of a share: a page ends so far before it is full at most, and before a row of a table that does not fit. */
const REACH = 0.1;
const ROW_REACH = 0.5;

interface LinePlace extends Omit<PageCut, 'at'> {
  readonly isRow: boolean;
}

class Cutter {
  private readonly cuts: PageCut[] = [];
  /** Characters before the line, each line's end counted as one. */
  private position = 0;
  private page = 1;
  private hasText = false;
  private readonly of: Shares;

  constructor(of: Shares) {
    this.of = of;
  }

  read(text: string, { isRow, ...place }: LinePlace): void {
    const { pages, share } = this.of;
    const count = charactersIn(text);
    const unitAt = unitsOf(text, count);
    let from = 0;
    for (; this.page < pages && this.position + count > share * this.page; this.page += 1) {
      const into = Math.floor(share * this.page - this.position);
      const isBefore = from === 0 && into <= share * (isRow ? ROW_REACH : REACH);
      const end = isBefore ? 0 : unitAt(into);
      const least = Math.max(from, end - Math.floor(share * REACH));
      const at = isBefore ? 0 : boundaryIn(text, { from, least, end });
      this.turn({ ...place, at }, text.slice(from, at));
      from = at;
    }
    this.hasText ||= /\S/.test(text.slice(from));
    this.position += count + 1;
  }

  /** A page without a text is none: it belongs to the next one. */
  private turn(cut: PageCut, before: string): void {
    this.hasText ||= /\S/.test(before);
    if (this.hasText) this.cuts.push(cut);
    this.hasText = false;
  }

  ended(): readonly PageCut[] {
    return this.hasText ? this.cuts : this.cuts.slice(0, -1);
  }
}

/** The UTF-16 offset of a character; asked for in order, in time linear in the text. */
function unitsOf(text: string, characters: number): (character: number) => number {
  if (characters === text.length) return (character) => character;
  let [at, passed] = [0, 0];
  return (character) => {
    for (; passed < character && at < text.length; passed += 1)
      at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
    return at;
  };
}
