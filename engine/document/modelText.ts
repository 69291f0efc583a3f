import type { Document, TableCell } from './document.ts';
import { htmlTable } from './htmlTable.ts';
import { markdownWith, pipeTable } from './markdown.ts';

/**
 * The text of a document as models are shown it: its markdown, but tables with merged cells as HTML with their
 * spans. Where the text of such a cell is repeated in each place, a model takes it for as many values.
 */
export const modelTextOf = (document: Document): string =>
  markdownWith(document, (table) => (table.cells.some(isMerged) ? htmlTable(table) : pipeTable(table)));

const isMerged = ({ rowSpan, columnSpan }: TableCell): boolean => rowSpan > 1 || columnSpan > 1;
