import type { Block, Document, DocumentPage } from '../../engine/document/document.ts';
import { flowDocument } from '../../engine/formats/pieces/flow.ts';
import { pdfLines } from '../../engine/formats/pdf/pdfLines.ts';
import { withNotes } from '../../engine/layout/footnotes.ts';
import { layoutPages } from '../../engine/layout/pages/layoutPages.ts';
import { withContinuedTables } from '../../engine/layout/tables/continuedTables.ts';
import type { Paper } from './paper.ts';

/** The document that the engine makes of pages with these words: lines, and blocks by its own layout. */
export function asPdf(paper: Paper): Document {
  const contents = withNotes(paper.contents());
  const blocks = layoutPages(contents);
  const pages = contents.map(({ words, width, height }, index): DocumentPage => ({
    page: index + 1,
    status: words.length === 0 ? 'empty' : 'ok',
    source: paper.style.isScan ? 'ocr' : 'text_layer',
    detail: null,
    width,
    height,
    rotation: 0,
    lines: pdfLines(words),
    blocks: blocks[index] ?? [],
  }));
  return { mimeType: 'application/pdf', pages: withContinuedTables(pages), warnings: [] };
}

/** The same as a document without geometry, such as a DOCX: its blocks one after another. */
export const asFlow = (document: Document, mimeType: string): Document =>
  flowDocument({ mimeType, blocks: document.pages.flatMap(({ blocks }) => blocks.map(withoutBox)) });

const withoutBox = (block: Block): Block =>
  block.kind === 'table'
    ? { ...block, box: null, cells: block.cells.map((cell) => ({ ...cell, box: null })) }
    : { ...block, box: null };
