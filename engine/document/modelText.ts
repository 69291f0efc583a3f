import { markdownOf, pipeTable } from './markdown.ts';
import { oneLine } from './cleanText.ts';
import type { Document, TableCell } from './document.ts';
import type { TableBlock } from './tableGrid.ts';

/**
 * The text of a document as models are shown it: its markdown, but tables with merged cells as HTML with their
 * spans. Where the text of such a cell is repeated in each place, a model takes it for as many values.
 */
export const modelTextOf = (document: Document): string =>
  markdownOf(document, (table) => (table.cells.some(isMerged) ? htmlTable(table) : pipeTable(table)));

const isMerged = ({ rowSpan, columnSpan }: TableCell): boolean => rowSpan > 1 || columnSpan > 1;

/** Places without a cell are empty cells, except where a merged one covers them. */
function htmlTable({ rows, columns, headerRows, cells }: TableBlock): string {
  const places = Array.from({ length: rows }, () => Array<TableCell | 'covered' | undefined>(columns));
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

function cellHtml(place: TableCell | 'covered' | undefined, tag: 'th' | 'td'): string {
  if (place === 'covered') return '';
  if (place === undefined) return `<${tag}></${tag}>`;
  return `<${tag}${spansOf(place)}>${escaped(place.text)}</${tag}>`;
}

const spansOf = ({ rowSpan, columnSpan }: TableCell): string =>
  `${rowSpan > 1 ? ` rowspan="${rowSpan}"` : ''}${columnSpan > 1 ? ` colspan="${columnSpan}"` : ''}`;

const escaped = (text: string): string =>
  oneLine(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
