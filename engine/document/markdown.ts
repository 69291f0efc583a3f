import { withoutEnd } from '../kernel/text.ts';
import { cleanText, oneLine } from './cleanText.ts';
import type { Block, Document, DocumentPage, TableCell } from './document.ts';
import { htmlTable } from './htmlTable.ts';
import { escapeMarks, safeInline } from './inline.ts';
import { withJoinedTables } from './joinedTables.ts';
import { tableGrid, type TableBlock } from './tableGrid.ts';

export type TableForm = 'markdown' | 'html';

export interface MarkdownForm {
  /** `html`: tables with their spans, the only HTML that there is then. */
  readonly tables?: TableForm | undefined;
}

/** One page, as it stands in the markdown of its document. */
export const markdownOfPage = (page: DocumentPage, { tables = 'markdown' }: MarkdownForm = {}): string =>
  `${pageMarkdown(page, tableTextIn(tables))}\n`;

/**
 * GitHub-flavoured markdown: ATX headings, pipe tables with spans repeated in each cell, fenced code,
 * links to http, https and mailto only, no raw HTML, NFC, line feeds, one newline at the end. A document
 * of several pages has `<!-- page N -->` before each. A table that runs over pages is one, where it begins.
 */
export const markdownOf = (document: Document, { tables = 'markdown' }: MarkdownForm = {}): string =>
  markdownWith({ ...document, pages: withJoinedTables(document.pages) }, tableTextIn(tables));

/** The same with tables as `tableText` writes them, each page's own. */
export function markdownWith({ pages }: Document, tableText: TableText): string {
  const parts = pages.map((page) => {
    const body = pageMarkdown(page, tableText);
    return pages.length > 1 ? `<!-- page ${page.page} -->\n\n${body}`.trimEnd() : body;
  });
  return `${parts.join('\n\n').trim()}\n`;
}

type TableText = (table: TableBlock) => string;

const tableTextIn = (form: TableForm): TableText => (form === 'html' ? htmlTable : pipeTable);

function pageMarkdown({ blocks }: DocumentPage, tableText: TableText): string {
  let markdown = '';
  let before: Block | null = null;
  for (const block of blocks) {
    const text = block.kind === 'table' ? tableText(block) : blockMarkdown(block);
    if (text === '') continue;
    if (before !== null) markdown += areOneList(before, block) ? '\n' : '\n\n';
    markdown += text;
    before = block;
  }
  return markdown;
}

const areOneList = (before: Block, block: Block): boolean =>
  before.kind === 'list_item' &&
  block.kind === 'list_item' &&
  (block.depth > 0 || before.depth > 0 || before.ordered === block.ordered);

function blockMarkdown(block: Exclude<Block, TableBlock>): string {
  switch (block.kind) {
    case 'heading':
      return headingMarkdown(block.level, inlineOf(block.markdown));
    case 'paragraph':
      return trimLines(safeInline(cleanText(block.markdown)));
    case 'list_item':
      return listItemMarkdown(block);
    case 'code':
      return codeMarkdown(block.language, block.text);
    case 'image':
      return inlineOf(block.text);
  }
}

const inlineOf = (markdown: string): string => oneLine(safeInline(oneLine(markdown)));

const headingMarkdown = (level: number, text: string): string =>
  text === '' ? '' : `${'#'.repeat(level)} ${text.replace(/(\s)(#+)$/, '$1\\$2')}`;

function trimLines(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').join('\n');
}

function listItemMarkdown(item: Extract<Block, { readonly kind: 'list_item' }>): string {
  const text = inlineOf(item.markdown);
  if (text === '') return '';
  const mark = item.ordered ? `${item.number ?? 1}.` : '-';
  return `${'    '.repeat(Math.max(0, item.depth))}${mark} ${text}`;
}

/** A table without a header row has its first row promoted, for GFM knows no other. */
export function pipeTable(table: TableBlock): string {
  const [header, ...body] = tableGrid(table, cellMarkdown);
  if (header === undefined || header.length === 0) return '';
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [row(header), row(header.map(() => '---')), ...body.map(row)].join('\n');
}

const cellMarkdown = ({ text, markdown }: TableCell): string =>
  inlineOf(markdown ?? escapeMarks(text)).replace(/(?<!\\)\|/g, '\\|');

/** The fence is longer than any run of backticks inside. */
function codeMarkdown(language: string | null, code: string): string {
  const text = withoutEnd(cleanText(code), /\n/);
  if (text.trim() === '') return '';
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${(language ?? '').replace(/[^\w+#.-]/g, '')}\n${text}\n${fence}`;
}
