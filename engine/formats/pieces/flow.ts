import {
  tableGrid,
  type Block,
  type Document,
  type DocumentPage,
  type DocumentWarning,
  type Line,
} from '../../document/document.ts';
import { charactersIn, pagesOf } from '../../document/pages.ts';
import type { OpenedDocument } from './opened.ts';

/** A block with the offset in the text at which it begins. */
export interface PlacedBlock {
  readonly offset: number;
  readonly block: Block;
  readonly lines: readonly Line[];
}

/** A document without pages of its own: a block stands on the virtual page in which it begins. */
export function documentOfBlocks({
  mimeType,
  placed,
  length,
  pages,
  warnings = [],
}: {
  readonly mimeType: string;
  readonly placed: readonly PlacedBlock[];
  readonly length: number;
  readonly pages: number;
  readonly warnings?: readonly DocumentWarning[];
}): Document {
  const perPage = Math.max(1, Math.ceil(length / pages));
  const byPage = Array.from({ length: pages }, (): PlacedBlock[] => []);
  for (const block of placed) byPage[Math.min(pages - 1, Math.floor(block.offset / perPage))]?.push(block);
  const all = byPage.map((blocks, index) =>
    markupPage({
      page: index + 1,
      blocks: blocks.map(({ block }) => block),
      lines: blocks.flatMap(({ lines }) => lines),
    }),
  );
  return { mimeType, pages: all, warnings };
}

const READ = { status: 'ok', detail: null } as const;
const NOTHING_ON_IT = { status: 'empty', detail: 'There is nothing on this page.' } as const;

/** A page of a format that has no geometry. */
export const markupPage = ({
  page,
  blocks,
  lines,
}: Pick<DocumentPage, 'page' | 'blocks' | 'lines'>): DocumentPage => ({
  page,
  width: null,
  height: null,
  ...(lines.length === 0 ? NOTHING_ON_IT : READ),
  source: 'markup',
  lines,
  blocks,
});

interface Flow {
  readonly mimeType: string;
  readonly blocks: readonly Block[];
  readonly warnings?: readonly DocumentWarning[];
}

/**
 * Opens a document that is one flow of blocks. Its pages are one per started 3,000 characters of its
 * blocks' text, each block's end counted as one.
 */
export function openFlow({ mimeType, blocks, warnings = [] }: Flow): OpenedDocument {
  const placed: PlacedBlock[] = [];
  let length = 0;
  for (const block of blocks) {
    const lines = linesOfBlock(block);
    placed.push({ offset: length, block, lines });
    for (const { text } of lines) length += charactersIn(text) + 1;
    if (length > FLOW_CHARACTERS_MAX) break;
  }
  const pages = pagesOf({ by: 'characters', characters: length });
  const all = length === 0 ? [...warnings, NO_TEXT] : warnings;
  return {
    kind: 'open',
    mimeType,
    pages,
    read: () =>
      Promise.resolve({
        kind: 'ok',
        document: documentOfBlocks({ mimeType, placed, length, pages, warnings: all }),
      }),
  };
}

/** Ten thousand pages, far more than an operation reads: of what has more, no more is laid out to be counted. */
const FLOW_CHARACTERS_MAX = 30_000_000;

const NO_TEXT: DocumentWarning = { code: 'no_text_found', message: 'The document has no text.' };

/** The lines of a block without geometry: of a table one a row, with a tab between its cells. */
export function linesOfBlock(block: Block): readonly Line[] {
  if (block.kind === 'table')
    return tableGrid(block).map((row) => lineOf(row.map((cell) => cell.replace(/\s+/g, ' ')).join('\t')));
  return block.text.split('\n').map(lineOf);
}

/** A line of a format without geometry. */
export const lineOf = (text: string): Line => ({
  text,
  box: null,
  words: text
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => ({ text: word, box: null, confidence: 1, fontSize: null, bold: false })),
});
