import { withoutEnd } from '../kernel/text.ts';
import { cleanText, oneLine } from './cleanText.ts';
import type { Block, Document, DocumentPage } from './document.ts';
import { tableGrid } from './tableGrid.ts';

/** The same order as the markdown, without markup: cells by tab, pages by form feed, one newline at the end. */
export const plainTextOf = (document: Document): string => textEnded(pagesText(document));

/** The pages of a document to which others may be joined, by a form feed too. */
export const pagesText = ({ pages }: Document): string => pages.map(pageText).join('\f');
export const textEnded = (text: string): string => `${text.trimEnd()}\n`;

function pageText({ blocks }: DocumentPage): string {
  let text = '';
  let before: Block['kind'] | null = null;
  for (const block of blocks) {
    const part = blockText(block);
    if (part === '') continue;
    if (before !== null) text += before === 'list_item' && block.kind === 'list_item' ? '\n' : '\n\n';
    text += part;
    before = block.kind;
  }
  return text;
}

function blockText(block: Block): string {
  switch (block.kind) {
    case 'table':
      return tableGrid(block)
        .map((row) => row.map(oneLine).join('\t'))
        .join('\n');
    case 'code':
      return withoutEnd(cleanText(block.text), /\n/);
    case 'paragraph':
      return cleanText(block.text).trim();
    default:
      return oneLine(block.text);
  }
}
