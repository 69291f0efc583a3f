import { cleanText, oneLine } from './plainText.ts';
import {
  tableGrid,
  type TableCell,
  type TableBlock,
  type Block,
  type DocumentPage,
  type Document,
} from './document.ts';
import { withoutEnd } from '../kernel/text.ts';
import { escapeMarks, safeInline } from './inline.ts';
import { withPageMarks, withWholeTables, withWholeTexts } from './wholeBlocks.ts';

/** A merged cell stands in its first place; in the others stands nothing. */
type CellOrGap = TableCell | 'covered' | undefined;

/**
 * A table as HTML, with its spans: no attribute and no mark in it comes from the document. Places without a
 * cell are empty cells, except where a merged one covers them.
 */
function htmlTable({ rows, columns, headerRows, cells }: TableBlock): string {
  const places = Array.from({ length: rows }, () => Array<CellOrGap>(columns));
  for (const cell of cells) {
    for (const row of places.slice(cell.row, cell.row + cell.rowSpan))
      row.fill('covered', cell.column, cell.column + cell.columnSpan);
    const row = places[cell.row];
    if (row !== undefined) row[cell.column] = cell;
  }
  const lines = places.map((row, at) => {
    const tag = at < headerRows ? 'th' : 'td';
    return `<tr>${Array.from(row, (place) => cellHtml(place, tag)).join('')}</tr>`;
  });
  return ['<table>', ...lines, '</table>'].join('\n');
}

function cellHtml(place: CellOrGap, tag: 'td' | 'th'): string {
  if (place === 'covered') return '';
  if (place === undefined) return `<${tag}></${tag}>`;
  const { text, rowSpan, columnSpan } = place;
  return `<${tag}${span('rowspan', rowSpan)}${span('colspan', columnSpan)}>${escaped(text)}</${tag}>`;
}

const span = (name: string, count: number): string => (count > 1 ? ` ${name}="${count}"` : '');

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escaped = (text: string): string =>
  cleanText(text)
    .trim()
    .replace(/[&<>"]/g, (mark) => ENTITIES[mark] ?? mark)
    .replace(/\n+/g, '<br>');

type TableForm = 'markdown' | 'html';

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
 * of several pages has `<!-- page N -->` before each. A text that runs over pages is one, with these marks in it;
 * so is a table or code, where it begins.
 */
export const markdownOf = (document: Document, { tables = 'markdown' }: MarkdownForm = {}): string => {
  const whole = withWholeTexts(withWholeTables(document.pages));
  return markdownWith(whole, { isPaged: document.pages.length > 1, tableText: tableTextIn(tables) });
};

interface Written {
  readonly isPaged: boolean;
  readonly tableText: TableText;
}

function markdownWith(pages: readonly DocumentPage[], { isPaged, tableText }: Written): string {
  const parts = pages.map((page) => {
    const body = pageMarkdown(page, tableText);
    return isPaged ? `<!-- page ${page.page} -->\n\n${body}`.trimEnd() : body;
  });
  return `${parts.join('\n\n').trim()}\n`;
}

type TableText = (table: TableBlock) => string;

const tableTextIn = (form: TableForm): TableText => (form === 'html' ? htmlTable : pipeTable);

function pageMarkdown({ blocks }: DocumentPage, tableText: TableText): string {
  let markdown = '';
  let before: Block | null = null;
  for (const block of blocks) {
    const text = block.kind === 'table' ? tableText(block) : withPageMarks(block, blockMarkdown(block));
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
  before.continues === undefined &&
  (block.depth > 0 || before.depth > 0 || before.ordered === block.ordered);

/** A block that is no table, without the marks of pages. */
export function blockMarkdown(block: Exclude<Block, TableBlock>): string {
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
  // The rest of an item whose mark stands on the page before.
  if (text === '' || item.continues !== undefined) return text;
  const mark = item.ordered ? `${item.number ?? 1}.` : '-';
  return `${'    '.repeat(Math.max(0, item.depth))}${mark} ${text}`;
}

/** A table without a header row has its first row promoted, for GFM knows no other. */
function pipeTable(table: TableBlock): string {
  const [header, ...body] = tableGrid(table, cellMarkdown);
  if (header === undefined || header.length === 0) return '';
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [row(header), row(header.map(() => '---')), ...body.map(row)].join('\n');
}

/** A cell as it stands in a row between bars. */
export const cellMarkdown = ({ text, markdown }: TableCell): string =>
  inlineOf(markdown ?? escapeMarks(text)).replace(/(?<!\\)\|/g, '\\|');

/** The fence is longer than any run of backticks inside. */
function codeMarkdown(language: string | null, code: string): string {
  const text = withoutEnd(cleanText(code), /\n/);
  if (text.trim() === '') return '';
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${(language ?? '').replace(/[^\w+#.-]/g, '')}\n${text}\n${fence}`;
}

/**
 * The text of a document as models are shown it: its markdown, but tables with merged cells as HTML with their
 * spans. Where the text of such a cell is repeated in each place, a model takes it for as many values.
 */
export const modelTextOf = ({ pages }: Document): string =>
  markdownWith(pages, {
    isPaged: pages.length > 1,
    tableText: (table) => (table.cells.some(isMerged) ? htmlTable(table) : pipeTable(table)),
  });

const isMerged = ({ rowSpan, columnSpan }: TableCell): boolean => rowSpan > 1 || columnSpan > 1;
