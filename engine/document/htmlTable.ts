import { cleanText } from './cleanText.ts';
import type { TableCell } from './document.ts';
import type { TableBlock } from './tableGrid.ts';

/** A merged cell stands in its first place; in the others stands nothing. */
type Place = TableCell | 'covered' | undefined;

/**
 * A table as HTML, with its spans: no attribute and no mark in it comes from the document. Places without a
 * cell are empty cells, except where a merged one covers them.
 */
export function htmlTable({ rows, columns, headerRows, cells }: TableBlock): string {
  const places = Array.from({ length: rows }, () => Array<Place>(columns));
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

function cellHtml(place: Place, tag: 'td' | 'th'): string {
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
