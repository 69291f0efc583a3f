import { withoutEnd } from '../kernel/text.ts';
import { tableGrid, type Block, type Document, type DocumentPage } from './document.ts';

/** Control characters that no rendering may carry (tab and line feed stay), and lone surrogates. */
const CONTROLS = /[\u0000-\u0008\u000b\u000e-\u001f\u007f-\u009f\ufeff\ufffe\uffff]/g;
const LONE_SURROGATES = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Nothing in it can need cleaning: most texts are told by that. */
const PLAIN = /^[\t\n\x20-\x7e]*$/;

/** NFC, line feeds only, nothing that cannot be seen or stored as UTF-8. */
export function cleanText(text: string): string {
  if (PLAIN.test(text)) return text;
  return text
    .replace(/\r\n?|\u2028|\u2029|\u0085/g, '\n')
    .replace(/\f/g, '\n')
    .replace(CONTROLS, '')
    .replace(LONE_SURROGATES, '\ufffd')
    .normalize('NFC');
}

/** One line: every run of white space is one space. */
export const oneLine = (text: string): string => cleanText(text).replace(/\s+/g, ' ').trim();

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
