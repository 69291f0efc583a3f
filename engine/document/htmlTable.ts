import { cleanText } from './cleanText.ts';
import type { TableCell } from './document.ts';
import type { TableBlock } from './tableGrid.ts';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escaped = (text: string): string =>
  cleanText(text)
    .trim()
    .replace(/[&<>"]/g, (mark) => ENTITIES[mark] ?? mark)
    .replace(/\n+/g, '<br>');

const span = (name: string, count: number): string => (count > 1 ? ` ${name}="${count}"` : '');

const cellHtml = ({ text, rowSpan, columnSpan }: TableCell, tag: 'td' | 'th'): string =>
  `<${tag}${span('rowspan', rowSpan)}${span('colspan', columnSpan)}>${escaped(text)}</${tag}>`;

/** A table as HTML, with its spans: no attribute and no mark in it comes from the document. */
export function htmlTable({ rows, headerRows, cells }: TableBlock): string {
  const byRow = Array.from({ length: rows }, (): TableCell[] => []);
  for (const cell of cells) byRow[cell.row]?.push(cell);
  const lines = byRow.map((row, at) => {
    const tag = at < headerRows ? 'th' : 'td';
    const inOrder = [...row].sort((a, b) => a.column - b.column);
    return `<tr>${inOrder.map((cell) => cellHtml(cell, tag)).join('')}</tr>`;
  });
  return ['<table>', ...lines, '</table>'].join('\n');
}
