import { commonSpans } from '../grids/lineColumns.ts';
import { overlap, type Row, type Segment } from '../places/layout.ts';
import { labelWords } from '../words/labelWords.ts';

/** A column of a table: where it lies, and what its header says. */
export interface Column {
  x0: number;
  x1: number;
  readonly header: readonly string[];
}

/** A number, with little beside it. */
export const isNumeric = (text: string): boolean => /\d/.test(text) && !/\p{L}{4,}/u.test(text);

/** Columns are where the rows with several numbers have their segments; headers go to the nearest. */
export function columnsOf(band: readonly Row[], body: readonly Row[]): readonly Column[] {
  const full = body.filter((row) => row.segments.filter(({ text }) => isNumeric(text)).length >= 2);
  const most = full.reduce((count, row) => Math.max(count, row.segments.length), 0);
  const chosen = (full.length > 0 ? full : body).filter((row) => row.segments.length >= most - 1);
  const spans = chosen.flatMap(({ segments }) => segments.map(({ x0, x1 }) => ({ x0, x1: x1 - 1 })));
  const columns = commonSpans(spans, { lines: chosen.length, gap: Number.NEGATIVE_INFINITY }).map(
    ({ x0, x1 }) => ({ x0, x1: x1 + 1, words: [] as HeaderWord[] }),
  );
  for (const segment of band.flatMap(({ segments }) => segments)) {
    if (isOfEmptyColumn(segment, columns, band)) columns.push({ x0: segment.x0, x1: segment.x1, words: [] });
    for (const word of headerWords(segment)) nearest(columns, word)?.words.push(word);
  }
  columns.sort((a, b) => a.x0 - b.x0);
  return joined(columns).map(({ x0, x1, words }) => ({ x0, x1, header: labelWords(inOrder(words)) }));
}

/** No row has a value under this header, and the column that is nearest has a header of its own beside it. */
function isOfEmptyColumn(segment: Segment, columns: readonly Span[], band: readonly Row[]): boolean {
  const column = nearest(columns, segment);
  if (column === undefined || overlap(column, segment) > 0) return false;
  const others = band.flatMap(({ segments }) => segments).filter((other) => other.row === segment.row);
  return others.some((other) => other !== segment && overlap(column, other) > 0);
}

interface Span {
  x0: number;
  x1: number;
}
interface HeaderWord extends Readonly<Span> {
  readonly text: string;
  readonly y: number;
}

/** Points between a column without a header and the text that it belongs to. */
const TOUCHING = 9;

/** A column without a header that touches its left neighbour is a part of it: numbers that end a text. */
function joined<C extends Span & { readonly words: readonly unknown[] }>(
  columns: readonly C[],
): readonly C[] {
  const kept: C[] = [];
  for (const column of columns) {
    const last = kept.at(-1);
    const touches = last !== undefined && column.x0 - last.x1 < TOUCHING;
    if (touches && column.words.length === 0) last.x1 = column.x1;
    else if (touches && last.words.length === 0) {
      column.x0 = last.x0;
      kept[kept.length - 1] = column;
    } else kept.push(column);
  }
  return kept;
}

const inOrder = (words: readonly HeaderWord[]): string =>
  [...words]
    .sort((a, b) => a.y - b.y || a.x0 - b.x0)
    .map(({ text }) => text)
    .join(' ')
    .replace(/- (?=\p{Ll})/gu, '');

function headerWords(segment: Segment): readonly HeaderWord[] {
  return segment.words.map(({ text, box }) =>
    box === null
      ? { text, x0: segment.x0, x1: segment.x1, y: segment.y0 }
      : { text, x0: box[0], x1: box[2], y: box[1] },
  );
}

/** The column that a span lies in or is nearest to, by the smaller distance of its edges. */
export function nearest<C extends { readonly x0: number; readonly x1: number }>(
  columns: readonly C[],
  span: { readonly x0: number; readonly x1: number },
): C | undefined {
  const distance = (column: C): number => {
    if (overlap(column, span) > 0) return -overlap(column, span);
    return Math.min(Math.abs(column.x0 - span.x1), Math.abs(column.x1 - span.x0));
  };
  return columns.reduce<C | undefined>(
    (best, column) => (best === undefined || distance(column) < distance(best) ? column : best),
    undefined,
  );
}
