import type { Block, Document, TableCell } from '../../document/document.ts';
import { inlineText } from '../../document/inline.ts';
import { withoutEnd } from '../../kernel/text.ts';
import { charactersIn } from '../../document/pages.ts';
import { blocksOf, COLUMNS_MAX } from '../pieces/blocks.ts';
import { htmlPieces } from './html.ts';
import { flowDocument } from '../pieces/flow.ts';

const FENCE_LINE = /^ {0,3}(?:`{3,}|~{3,})/;
const CLOSING = /^ {0,3}(?:`{3,}|~{3,})[ \t]*$/;
const INLINE_CODE = /(`[^`\n]+`)/;

/** Of each line the nearest one from it on that may close a fence. */
function closingLines(lines: readonly string[]): readonly (number | undefined)[] {
  const closing = new Array<number | undefined>(lines.length + 1);
  for (let at = lines.length - 1; at >= 0; at -= 1)
    closing[at] = CLOSING.test(lines[at] ?? '') ? at : closing[at + 1];
  return closing;
}

/** Text in which every other part is code, the first one none. */
function withFencesApart(text: string): readonly string[] {
  const lines = text.split('\n');
  const closing = closingLines(lines);
  const parts: string[] = [];
  let prose: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const close = FENCE_LINE.test(lines[at] ?? '') ? closing[at + 1] : undefined;
    if (close === undefined) {
      prose.push(lines[at] ?? '');
      continue;
    }
    parts.push(prose.map((line) => `${line}\n`).join(''), lines.slice(at, close + 1).join('\n'));
    prose = close + 1 < lines.length ? [''] : [];
    at = close;
  }
  return [...parts, prose.join('\n')];
}

/** The text with what stands outside of code changed. Linear: each line is looked at twice. */
const changedOutsideCode = (text: string, change: (prose: string) => string): string =>
  withFencesApart(text)
    .map((part, index) => (index % 2 === 1 ? part : outsideSpans(part, change)))
    .join('');

const outsideSpans = (text: string, change: (prose: string) => string): string =>
  text
    .split(INLINE_CODE)
    .map((part, index) => (index % 2 === 1 ? part : change(part)))
    .join('');

/** From where on something is cut out; undefined: it has no end. */
type EndOf = (text: string, from: number) => number | undefined;

/**
 * The text without what begins with `opening` and ends where `endOf` says. What has no end stays, and is not
 * looked for again: so the time is linear however often it begins.
 */
function without(text: string, opening: RegExp, { endOf, left }: Cut): string {
  let [kept, from] = ['', 0];
  const open = new RegExp(opening, 'gi');
  for (let found = open.exec(text); found !== null; found = open.exec(text)) {
    const end = endOf(text, open.lastIndex);
    if (end === undefined) break;
    kept += text.slice(from, found.index) + left(text.slice(found.index, end));
    from = end;
    open.lastIndex = end;
  }
  return kept + text.slice(from);
}

interface Cut {
  readonly endOf: EndOf;
  /** What stands in the place of what was cut. */
  readonly left: (cut: string) => string;
}

const endOfComment: EndOf = (text, from) => {
  const at = text.indexOf('-->', from);
  return at < 0 ? undefined : at + 3;
};

const endOfElement =
  (name: string): EndOf =>
  (text, from) => {
    const close = new RegExp(`</${name}\\s*>`, 'gi');
    close.lastIndex = from;
    return close.exec(text) === null ? undefined : close.lastIndex;
  };

const nothing = (): string => '';
const lineFeeds = (cut: string): string => cut.replace(/[^\n]/g, '');

/** Comments, scripts, styles and tags go, line break tags become a space; text stays. */
export function strippedTags(text: string): string {
  let stripped = without(text, /<!--/, { endOf: endOfComment, left: lineFeeds });
  for (const name of ['script', 'style'])
    stripped = without(stripped, new RegExp(`<${name}\\b[^<>]*>`), {
      endOf: endOfElement(name),
      left: nothing,
    });
  return stripped.replace(/<br\s*\/?>/gi, ' ').replace(/<\/?[a-z][a-z\d-]*(?:\s[^<>]*)?\/?>/gi, '');
}

const OPENS = /^ {0,3}<(table|ul|ol|dl|div|p|h[1-6]|blockquote|section|article|figure|center)\b[^>]*>/i;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
/** Signs that no text has, around the number of a block that was taken out. */
const MARK = /^\ue010(\d+)\ue011$/;

/** Markdown without its blocks of HTML: in the place of each stands one line that `htmlMark` knows. */
function htmlBlocksOut(text: string): { readonly rest: string; readonly blocks: readonly string[] } {
  const blocks: string[] = [];
  const kept: string[] = [];
  const lines = text.replace(/[\ue010\ue011]/g, '').split('\n');
  const unclosed = new Set<string>();
  let fence: string | undefined;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    fence = fenceAfter(line, fence);
    const name = fence === undefined ? OPENS.exec(line)?.[1]?.toLowerCase() : undefined;
    const end = name === undefined || unclosed.has(name) ? undefined : endOf(lines, at, name);
    if (end === undefined) {
      kept.push(line);
      if (name !== undefined) unclosed.add(name);
    } else {
      kept.push(`\ue010${blocks.length}\ue011`);
      blocks.push(lines.slice(at, end + 1).join('\n'));
      at = end;
    }
  }
  return { rest: kept.join('\n'), blocks };
}

/** The mark of the code in which the next line lies. */
function fenceAfter(line: string, fence: string | undefined): string | undefined {
  const [, mark] = FENCE.exec(line) ?? [];
  if (mark === undefined) return fence;
  if (fence === undefined) return mark;
  return line.trim().startsWith(fence) ? undefined : fence;
}

/** The number of the block that a line stands for. */
function htmlMark(line: string): number | undefined {
  const [, number] = MARK.exec(line) ?? [];
  return number === undefined ? undefined : Number(number);
}

/** The line on which the element that opens at a line is closed; undefined when it never is. */
function endOf(lines: readonly string[], start: number, name: string): number | undefined {
  const tags = new RegExp(`<(/?)${name}\\b`, 'gi');
  let depth = 0;
  for (let at = start; at < lines.length; at += 1) {
    for (const [, closes] of (lines[at] ?? '').matchAll(tags)) depth += closes === '' ? 1 : -1;
    if (depth <= 0) return at;
  }
  return undefined;
}

/** What is left to read: the lines, and where the next one is. */
interface Cursor {
  readonly lines: readonly string[];
  at: number;
}
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
export function markdownBlocks(text: string): readonly Block[] {
  const { rest, blocks: html } = htmlBlocksOut(text);
  const source = changedOutsideCode(resolveReferences(rest), strippedTags);
  const cursor: Cursor = { lines: source.split('\n'), at: 0 };
  const blocks: Block[] = [];
  while (cursor.at < cursor.lines.length)
    for (const block of readHtml(cursor, html) ?? readBlocks(cursor)) blocks.push(block);
  return blocks;
}

/** Markdown on its pages. */
export const markdownDocument = (text: string): Document =>
  flowDocument({ mimeType: 'text/markdown', blocks: markdownBlocks(text), characters: charactersIn(text) });

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
  if (cellsOf(rule).length !== columns || columns > COLUMNS_MAX) return undefined;
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
