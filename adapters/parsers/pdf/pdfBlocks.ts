import type { LayoutBlock, LayoutCell, Rect } from '@llamaindex/liteparse';
import { cleanText, oneLine } from '../../../domain/document/cleanText.ts';
import type { Block, Box, Line, TableCell } from '../../../domain/document/document.ts';
import { escapeMarks, escapeText, isSafeLink } from '../../../domain/document/inline.ts';

/** No heading is longer, whatever its font. */
const HEADING_CHARACTERS_MAX = 120;

/** The layout pass's blocks as ours. A page without blocks falls back to its lines. */
export function pdfBlocks(blocks: readonly LayoutBlock[], lines: readonly Line[]): readonly Block[] {
  const known = blocks.flatMap((block) => blockOf(block) ?? []);
  return known.length > 0 ? known : lines.map(({ text, box }) => paragraph(text, box));
}

function blockOf(block: LayoutBlock): Block | undefined {
  const box = boxOf(block.bbox);
  const text = oneLine(block.text ?? '');
  switch (block.kind) {
    case 'heading':
      return heading(block.level, text, box);
    case 'paragraph':
      return text === '' ? undefined : paragraph(text, box);
    case 'list_item':
      return listItem(block, text, box);
    case 'table':
      return table(block, box);
    case 'code':
    case 'grid_fallback':
      return code(block, box);
    default:
      return undefined;
  }
}

const heading = (level: number | undefined, text: string, box: Box | null): Block =>
  isHeading(text)
    ? { kind: 'heading', level: levelOf(level), text: bare(text), markdown: marked(text), box }
    : paragraph(text, box);

const code = ({ lang, lines }: LayoutBlock, box: Box | null): Block => ({
  kind: 'code',
  language: lang ?? null,
  text: cleanText((lines ?? []).join('\n')),
  box,
});

const isHeading = (text: string): boolean =>
  text.length <= HEADING_CHARACTERS_MAX && /[\p{L}\p{N}]/u.test(text);

const levelOf = (level: number | undefined): 1 | 2 | 3 | 4 | 5 | 6 =>
  Math.min(6, Math.max(1, level ?? 2)) as 1 | 2 | 3 | 4 | 5 | 6;

const paragraph = (text: string, box: Box | null): Block => ({
  kind: 'paragraph',
  text: bare(text),
  markdown: marked(text),
  box,
});

const listItem = (block: LayoutBlock, text: string, box: Box | null): Block => ({
  kind: 'list_item',
  ordered: block.ordered ?? false,
  number: block.ordered === true ? Number.parseInt(block.marker ?? '1', 10) || 1 : null,
  depth: Math.max(0, block.level ?? 0),
  text: bare(text),
  markdown: marked(text),
  box,
});

function table(block: LayoutBlock, box: Box | null): Block {
  const header = block.header ?? [];
  const rows = [...(header.length > 0 ? [header] : []), ...(block.rows ?? [])];
  const columns = rows.reduce((widest, row) => Math.max(widest, row.length), 0);
  const cells = rows.flatMap((row, index) => row.map((cell, column) => cellOf(cell, index, column)));
  return { kind: 'table', rows: rows.length, columns, headerRows: header.length > 0 ? 1 : 0, cells, box };
}

const cellOf = (cell: LayoutCell, row: number, column: number): TableCell => ({
  text: bare(oneLine(cell.text)),
  markdown: marked(oneLine(cell.text)),
  box: boxOf(cell.bbox),
  row,
  column,
  rowSpan: 1,
  columnSpan: 1,
});

const LINK = /\[([^[\]]*)\]\(([^\s()]+(?:\([^\s()]*\)[^\s()]*)*)\)/g;

/** Text with the links that the parser wrote into it; all else is escaped. */
function marked(text: string): string {
  let markdown = '';
  let end = 0;
  for (const link of text.matchAll(LINK)) {
    const [whole, label = '', destination = ''] = link;
    markdown += escapeText(text.slice(end, link.index));
    markdown += isSafeLink(destination) ? `[${escapeMarks(label)}](${destination})` : escapeText(label);
    end = link.index + whole.length;
  }
  return markdown + (end === 0 ? escapeText(text) : escapeMarks(text.slice(end)));
}

const bare = (text: string): string => text.replace(LINK, '$1');

const boxOf = (rect: Rect | undefined): Box | null =>
  rect === undefined
    ? null
    : [round(rect.x), round(rect.y), round(rect.x + rect.width), round(rect.y + rect.height)];
const round = (points: number): number => Math.round(points * 100) / 100;
