import type { Document, DocumentPage, Line } from '../../document/document.ts';
import { markdownOf } from '../../document/markdown.ts';
import { layoutPages } from '../../layout/layoutPages.ts';
import { withContinuedTables } from '../../layout/tables/continuedTables.ts';
import type { PageContent, PlacedWord, Rule } from '../../layout/content.ts';

interface Look {
  readonly size?: number;
  readonly bold?: boolean;
  readonly italic?: boolean;
  readonly mono?: boolean;
}

/** Words of a line that begins at x, with their baseline box at y; half a size a letter. */
export const line = (
  text: string,
  [x, y]: readonly [number, number],
  look: Look = {},
): readonly PlacedWord[] => {
  const { size = 10, bold = false, italic = false, mono = false } = look;
  const words: PlacedWord[] = [];
  for (const match of text.matchAll(/\S+/g)) {
    const x0 = x + match.index * size * 0.5;
    const box = [x0, y, x0 + match[0].length * size * 0.5, y + size] as const;
    words.push({ text: match[0], box, size, bold, italic, mono, link: null, confidence: 1 });
  }
  return words;
};

/** A page of 600 x 800 points with lines and rules. */
export const pageOf = (
  words: readonly (readonly PlacedWord[])[],
  rules: readonly Rule[] = [],
): PageContent => ({
  width: 600,
  height: 800,
  words: words.flat(),
  rules,
  aside: [],
});

/** What a page reads as. */
export const markdown = (page: PageContent): string => {
  const [blocks = []] = layoutPages([page]);
  const base = {
    page: 1,
    width: 600,
    height: 800,
    status: 'ok',
    source: 'text_layer',
    detail: null,
    lines: [],
  } as const;
  return markdownOf({ mimeType: 'application/pdf', pages: [{ ...base, blocks }], warnings: [] });
};

const lineOf = (words: readonly PlacedWord[]): Line => ({
  text: words.map(({ text }) => text).join(' '),
  box: null,
  words: words.map(({ text, box, size, bold }) => ({ text, box, confidence: 1, fontSize: size, bold })),
});

/** Pages as a document that values are read from, their lines by height. */
export function drawnDocument(contents: readonly PageContent[]): Document {
  const blocks = layoutPages(contents);
  const pages = contents.map(({ words, width, height }, index): DocumentPage => {
    const tops = [...new Set(words.map(({ box }) => box[1]))].sort((a, b) => a - b);
    const level = (top: number) =>
      words.filter(({ box }) => box[1] === top).sort((a, b) => a.box[0] - b.box[0]);
    return {
      page: index + 1,
      width,
      height,
      status: 'ok',
      source: 'text_layer',
      detail: null,
      lines: tops.map((top) => lineOf(level(top))),
      blocks: blocks[index] ?? [],
    };
  });
  return { mimeType: 'application/pdf', pages: withContinuedTables(pages), warnings: [] };
}
