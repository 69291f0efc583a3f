import { strongestOf, top, type Header } from '../grids/lineGrids.ts';
import { once } from '../../kernel/once.ts';
import type { Field } from '../fields/fields.ts';
import { wholeScore } from '../words/says.ts';
import { labelWords } from '../words/labelWords.ts';
import type { Row } from '../places/layout.ts';
import { columnsOf, isNumeric, type Column } from './tableColumns.ts';
import { numbersApart } from '../places/segmentParts.ts';
import type { Source } from '../source.ts';

/** Rows under one header, with what the header's words say of each column. */
export interface Table {
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  readonly score: number;
}

const HEADER_HIT = 0.75;
/** Rows next to the header row that still belong to it, in points between their tops. */
const HEADER_BAND = 36;
const GAP_MAX = 70;
const TOTALS = ['grand_total', 'net_total', 'tax_total', 'line_sum'];

/** The tables whose headers say at least two of the fields, pages of one table joined. */
export function tablesFor(fields: readonly Field[], source: Source): readonly Table[] {
  const headers = source.layout.rows.flatMap((row) => headerOf(row, fields, source) ?? []);
  const starts = new Set(headers.map(({ row }) => row));
  const strongest = headers.reduce((most, { hits }) => Math.max(most, hits), 0);
  const strong = headers.filter(({ hits }) => hits >= Math.max(2, strongest - 1));
  const inBand = (one: Header, next: Header): boolean => top(next.row) - top(one.row) < HEADER_BAND;
  return strongestOf(strong, inBand).map((header) => tableUnder(header, { source, starts }));
}

function headerOf(row: Row, fields: readonly Field[], { labels }: Source): Header | undefined {
  if (row.segments.length < 2) return undefined;
  const runs = runsIn(row);
  const hits = fields.filter((field) => runs.some((run) => labels.score(field, run) >= HEADER_HIT)).length;
  return hits >= 2 ? { row, hits } : undefined;
}

/** A header's segment may say more than one column: each word and pair of words is tried. */
const runsIn = once(({ segments }: Row): readonly (readonly string[])[] =>
  segments.flatMap(({ text }) => {
    const words = isNumeric(text) ? [] : labelWords(text);
    const from = (i: number) => [words.slice(i, i + 1), words.slice(i, i + 2), words.slice(i, i + 3)];
    return [words, ...words.flatMap((_, i) => from(i))];
  }),
);

interface Surroundings {
  readonly source: Source;
  /** Rows that begin a table themselves. */
  readonly starts: ReadonlySet<Row>;
}

function tableUnder({ row: header, hits }: Header, around: Surroundings): Table {
  const { rows } = around.source.layout;
  const band = bandOf(header, rows);
  const below = rows.slice(header.index + 1).filter((row) => !band.includes(row));
  const body = bodyOf(below, band, around);
  const columns = columnsOf(band, body);
  return { columns, rows: body, score: hits };
}

const bottom = (row: Row): number => Math.max(...row.segments.map(({ y1 }) => y1));

/** The header's row with the rows of words right above and below it. */
function bandOf(header: Row, rows: readonly Row[]): readonly Row[] {
  const isHeaderPart = (row: Row): boolean =>
    row.page === header.page &&
    Math.abs(top(row) - top(header)) <= HEADER_BAND &&
    row.segments.every(({ text, x0, x1 }) => !/\d/.test(text) && x1 - x0 < 140);
  const band = [header];
  for (let i = header.index - 1; i >= 0 && nextTo(rows[i], band[0], isHeaderPart); i -= 1)
    band.unshift(rows[i] ?? header);
  for (let i = header.index + 1; i < rows.length && nextTo(rows[i], band.at(-1), isHeaderPart); i += 1)
    band.push(rows[i] ?? header);
  return band;
}

const nextTo = (row: Row | undefined, edge: Row | undefined, isPart: (row: Row) => boolean): boolean =>
  row !== undefined && edge !== undefined && Math.abs(top(row) - top(edge)) < 16 && isPart(row);

/** Rows up to a total or a wide gap. The next page goes on with the table when its first row has amounts. */
function bodyOf(
  rows: readonly Row[],
  band: readonly Row[],
  { source, starts }: Surroundings,
): readonly Row[] {
  const body: Row[] = [];
  const left = Math.min(...band.flatMap(({ segments }) => segments.map(({ x0 }) => x0)));
  let page = band[0]?.page;
  let end = Math.max(...band.map(bottom));
  for (const row of rows) {
    if (isTotalRow(row, source) || beginsAnother(row, left) || (starts.has(row) && row.page !== page)) break;
    if (row.page === page ? top(row) - end > GAP_MAX : amounts(row) < 2) break;
    body.push({ ...row, segments: row.segments.flatMap(numbersApart) });
    page = row.page;
    end = bottom(row);
  }
  return body;
}

/** The header of another table, or a title at the left edge. */
function beginsAnother({ segments }: Row, left: number): boolean {
  if (segments.length >= 3 && segments.every(({ text }) => !/\d/.test(text))) return true;
  const [only, ...others] = segments;
  return others.length === 0 && only !== undefined && /:\s*$/.test(only.text) && only.x0 <= left + 5;
}

const amounts = ({ segments }: Row): number => segments.filter(({ text }) => isNumeric(text)).length;

/** A total's label, with an amount on its right and little else. */
export function isTotalRow(row: Row, { labels, endsRows }: Source): boolean {
  if (endsRows?.(row) === true) return true;
  const { segments } = row;
  const texts = segments.filter(({ text }) => /\p{L}{3,}/u.test(text) && !isNumeric(text));
  if (segments.length - texts.length > 3 || !segments.some(({ text }) => /\d/.test(text))) return false;
  return texts.some(({ text }) => {
    const label = text.replace(/[:\d.,€$£%-]+/g, ' ');
    return TOTALS.some((id) => wholeScore(label, (words) => labels.concept(id, words)) >= 0.8);
  });
}
