import type { Block, Document, TableCell } from '../../document/document.ts';
import { inlineText } from '../../document/inlineText.ts';
import { withoutEnd } from '../../kernel/text.ts';
import { blocksOf } from '../pieces/blocks.ts';
import { htmlPieces } from '../web/htmlPieces.ts';
import { htmlBlocksOut, htmlMark } from './htmlInMarkdown.ts';
import { changedOutsideCode } from './outsideCode.ts';
import { strippedTags } from './strippedTags.ts';
import { documentOfBlocks, linesOfBlock, type PlacedBlock } from '../flow.ts';

/** What is left to read: the lines, and where the next one is. */
interface Cursor {
  readonly lines: readonly string[];
  at: number;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const ATX = /^ {0,3}(#{1,6})(?=\s|$)/;
const SETEXT = /^ {0,3}(=+|-{2,})\s*$/;
const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const ITEM = /^(\s*)(?:[-*+]|(\d{1,9})[.)])\s(.*)$/;
const RULE_CELL = /^:?-+:?$/;

/** The line between the header of a table and its rows. */
const isTableRule = (line: string): boolean =>
  line
    .trim()
    .replace(/^\|/, '')
    .replace(/\|$/, '')
    .split('|')
    .every((cell) => RULE_CELL.test(cell.trim()));

/** A heading's text, without the marks that may close it. */
function titleOf(rest: string): string {
  const title = rest.trim();
  const open = withoutEnd(title, /#/);
  return open === '' || /\s$/.test(open) ? open.trimEnd() : title;
}

/** Markdown as blocks: headings, lists, tables, code and paragraphs. Raw HTML tags are dropped, text stays. */
export function markdownDocument(text: string, pages: number): Document {
  const { rest, blocks: html } = htmlBlocksOut(text);
  const source = changedOutsideCode(resolveReferences(rest), strippedTags);
  const cursor: Cursor = { lines: source.split('\n'), at: 0 };
  const placed: PlacedBlock[] = [];
  let offset = 0;
  while (cursor.at < cursor.lines.length) {
    const from = cursor.at;
    const blocks = readHtml(cursor, html) ?? readBlocks(cursor);
    for (const block of blocks) placed.push({ offset, block, lines: linesOfBlock(block) });
    for (const line of cursor.lines.slice(from, cursor.at)) offset += line.length + 1;
  }
  return documentOfBlocks({ mimeType: 'text/markdown', placed, length: offset, pages });
}

/** The blocks of HTML that were taken out at this line, if it stands for any. */
function readHtml(cursor: Cursor, html: readonly string[]): readonly Block[] | undefined {
  const index = htmlMark(cursor.lines[cursor.at] ?? '');
  const block = index === undefined ? undefined : html[index];
  if (block === undefined) return undefined;
  cursor.at += 1;
  return blocksOf(htmlPieces(block).pieces);
}

function readBlocks(cursor: Cursor): readonly Block[] {
  const line = cursor.lines[cursor.at] ?? '';
  if (line.trim() === '' || RULE.test(line)) {
    cursor.at += 1;
    return [];
  }
  const block = readCode(cursor) ?? readHeading(cursor) ?? readTable(cursor) ?? readItem(cursor);
  return [block ?? readParagraph(cursor)];
}

function readCode(cursor: Cursor): Block | undefined {
  const line = cursor.lines[cursor.at] ?? '';
  const opening = FENCE.exec(line);
  const fence = opening?.[1];
  if (opening === null || fence === undefined) return undefined;
  const [language = ''] = /^[^\s`]*/.exec(line.slice(opening[0].length).trim()) ?? [];
  const from = cursor.at + 1;
  const closes = (other: string): boolean => {
    const trimmed = other.trim();
    return trimmed.startsWith(fence) && trimmed === fence.charAt(0).repeat(trimmed.length);
  };
  const length = cursor.lines.slice(from).findIndex(closes);
  const to = length < 0 ? cursor.lines.length : from + length;
  cursor.at = to + 1;
  const text = cursor.lines.slice(from, to).join('\n');
  return { kind: 'code', language: language === '' ? null : language, text, box: null };
}

function readHeading(cursor: Cursor): Block | undefined {
  const line = cursor.lines[cursor.at] ?? '';
  const [opening, marks] = ATX.exec(line) ?? [];
  if (opening !== undefined && marks !== undefined) {
    cursor.at += 1;
    return heading(marks.length, titleOf(line.slice(opening.length)));
  }
  const level = underlineLevel(cursor.lines[cursor.at + 1] ?? '');
  if (level === undefined || ITEM.test(line) || line.includes('|')) return undefined;
  cursor.at += 2;
  return heading(level, line);
}

function underlineLevel(line: string): 1 | 2 | undefined {
  const [, underline] = SETEXT.exec(line) ?? [];
  if (underline === undefined) return undefined;
  return underline.startsWith('=') ? 1 : 2;
}

const heading = (level: number, markdown: string): Block => ({
  kind: 'heading',
  level: Math.min(6, level) as 1 | 2 | 3 | 4 | 5 | 6,
  text: inlineText(markdown),
  markdown: markdown.trim(),
  box: null,
});

function readTable(cursor: Cursor): Block | undefined {
  const header = cursor.lines[cursor.at] ?? '';
  const rule = cursor.lines[cursor.at + 1] ?? '';
  if (!header.includes('|') || !isTableRule(rule)) return undefined;
  const columns = cellsOf(header).length;
  if (cellsOf(rule).length !== columns) return undefined;
  const rows = [cellsOf(header)];
  cursor.at += 2;
  for (let line = cursor.lines[cursor.at]; line !== undefined; line = cursor.lines[cursor.at]) {
    if (line.trim() === '' || !line.includes('|')) break;
    rows.push(cellsOf(line).slice(0, columns));
    cursor.at += 1;
  }
  const cells = rows.flatMap((row, index) => row.map((cell, column) => tableCell(cell, index, column)));
  return { kind: 'table', rows: rows.length, columns, headerRows: 1, cells, box: null };
}

const tableCell = (markdown: string, row: number, column: number): TableCell => ({
  text: inlineText(markdown),
  markdown,
  box: null,
  row,
  column,
  rowSpan: 1,
  columnSpan: 1,
});

const cellsOf = (line: string): string[] =>
  line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replace(/\\\|/g, '|'));

function readItem(cursor: Cursor): Block | undefined {
  const [, indent, number, first] = ITEM.exec(cursor.lines[cursor.at] ?? '') ?? [];
  if (indent === undefined || first === undefined) return undefined;
  cursor.at += 1;
  const markdown = [first.trimStart(), ...readLazily(cursor)].join(' ');
  return {
    kind: 'list_item',
    ordered: number !== undefined,
    number: number === undefined ? null : Number(number),
    depth: Math.ceil(indent.replace(/\t/g, '    ').length / 4),
    text: inlineText(markdown),
    markdown,
    box: null,
  };
}

function readParagraph(cursor: Cursor): Block {
  const first = cursor.lines[cursor.at] ?? '';
  cursor.at += 1;
  const markdown = [first.trimStart(), ...readLazily(cursor)]
    .map((line) => line.trim().replace(/^(?:>\s?)+/, ''))
    .join('\n');
  return { kind: 'paragraph', text: inlineText(markdown), markdown, box: null };
}

/** The lines that go on with the block: up to a blank line or whatever begins another block. */
function readLazily(cursor: Cursor): readonly string[] {
  const more: string[] = [];
  for (let line = cursor.lines[cursor.at]; line !== undefined; line = cursor.lines[cursor.at]) {
    const text = line;
    if (line.trim() === '' || [FENCE, ATX, RULE, ITEM].some((start) => start.test(text))) break;
    if (line.includes('|') && isTableRule(cursor.lines[cursor.at + 1] ?? '')) break;
    more.push(line.trim());
    cursor.at += 1;
  }
  return more;
}

/** A label has at most 999 characters (CommonMark). */
const DEFINITION = /^ {0,3}\[([^\]\n]{1,999})\]:\s*<?(\S+?)>?(?:\s+["'(].*["')])?\s*$/gm;

/** `[label][name]` and `[name]` with a definition become inline links; the definitions go. */
function resolveReferences(text: string): string {
  const definitions = new Map<string, string>();
  const rest = text.replace(DEFINITION, (_, name: string, destination: string) => {
    definitions.set(name.toLowerCase(), destination);
    return '';
  });
  if (definitions.size === 0) return text;
  return rest.replace(
    /(?<!\\)\[([^[\]]+)\](?:\[([^[\]]*)\])?(?!\()/g,
    (whole, label: string, name?: string) => {
      const destination = definitions.get((name === undefined || name === '' ? label : name).toLowerCase());
      return destination === undefined ? whole : `[${label}](${destination})`;
    },
  );
}
