import type { Block, Document, DocumentPage, Line } from '../../domain/document/document.ts';

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
}: {
  readonly mimeType: string;
  readonly placed: readonly PlacedBlock[];
  readonly length: number;
  readonly pages: number;
}): Document {
  const perPage = Math.max(1, Math.ceil(length / pages));
  const byPage = Array.from({ length: pages }, (): PlacedBlock[] => []);
  for (const block of placed) byPage[Math.min(pages - 1, Math.floor(block.offset / perPage))]?.push(block);
  return { mimeType, pages: byPage.map(pageOf), warnings: [] };
}

const pageOf = (placed: readonly PlacedBlock[], index: number): DocumentPage => ({
  page: index + 1,
  width: null,
  height: null,
  status: 'ok',
  source: 'markup',
  detail: null,
  lines: placed.flatMap(({ lines }) => lines),
  blocks: placed.map(({ block }) => block),
});
