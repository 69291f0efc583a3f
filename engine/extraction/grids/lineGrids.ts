import { once } from '../../kernel/once.ts';
import type { Row, Segment } from '../places/layout.ts';
import { labelWords } from '../words/labelWords.ts';
import { asksBothSides, hasSides } from './apart.ts';
import { isDay } from './days.ts';
import { isTotalRow } from './goods.ts';
import { numbersApart } from '../places/segmentParts.ts';
import type { Cell, Grid, GridRow } from './grid.ts';
import type { Asked as AskedOfRows } from './headerRows.ts';
import {
  columnsOf,
  columnSpans,
  gridRow,
  isNumeric,
  nearestOver,
  placedCells,
  placedWords,
} from './lineColumns.ts';

type Asked = Omit<AskedOfRows, 'outer'>;

/** Rows that are looked at for a header. */
const ROWS_MAX = 4000;
const YEAR = /^(?:19|20)\d{2}$/;
/** A header's segment may say several columns: runs of so many of its words are tried. */
const RUN_MAX = 3;
const SEGMENT_WORDS_MAX = 10;
const NAMED = 0.6;
/** Rows right above or below a header row that may belong to it, and how near they stand, in heights. */
const BAND_MAX = 2;
const NEAR = 2.6;
/** Rows end where so much is white, in heights of a line. */
const WHITE_MAX = 5;
const BODY_MAX = 5000;

/**
 * Grids of lines: below a row whose words name at least two of the fields. They find the tables that have
 * neither rules nor a form that the layout tells.
 */
export function lineGrids(asked: Asked): readonly Grid[] {
  const { rows } = asked.source.layout;
  const headers = rows.slice(0, ROWS_MAX).filter((row) => isHeader(row, asked));
  const starts = new Set(headers);
  const isEnd = asked.ofGoods ? (row: Row) => isTotalRow(row, asked.source) : () => false;
  const hits = headers.map((row) => ({ row, hits: hitsOf(row, asked) }));
  return strongestOf(hits, (one, next) => isNear(one.row, next.row)).flatMap(({ row }) =>
    gridUnder(row, rows, { starts, isEnd, ofGoods: asked.ofGoods }),
  );
}

/** Fields that the row names; in a text that stands alone each by words of its own, for it may be a title. */
const hitsOf = (row: Row, { fields, matcher }: Asked): number => {
  const runs = wordsRun(row);
  const named = fields.flatMap((field) => bestRun(runs, (run) => matcher(field, run)) ?? []);
  if (row.segments.length < 2) return new Set(named).size;
  const hasBoth = named.length < fields.length && hasSides(row.segments.map(({ text }) => text));
  return named.length + (hasBoth && asksBothSides(fields) ? 1 : 0);
};

function bestRun(runs: readonly string[], score: (run: string) => number): string | undefined {
  let [best, most]: [string | undefined, number] = [undefined, NAMED];
  for (const run of runs) {
    const own = score(run);
    if (own > most || (best === undefined && own === most)) [best, most] = [run, own];
  }
  return best;
}

function isHeader(row: Row, asked: Asked): boolean {
  const named = row.segments.filter(
    ({ text }) => (/\p{L}/u.test(text) && !/\d{2}/.test(text)) || YEAR.test(text),
  );
  if (2 * named.length < row.segments.length || placedWords(row).length > 40) return false;
  return hitsOf(row, asked) >= Math.min(2, asked.fields.length);
}

const wordsRun = once(({ segments }: Row): readonly string[] =>
  segments.filter(({ text }) => /\p{L}/u.test(text)).flatMap(runsOf),
);

function runsOf({ words }: Segment): readonly string[] {
  const texts = words.slice(0, SEGMENT_WORDS_MAX).map(({ text }) => text);
  const all = texts.join(' ');
  const runs = texts.flatMap((_, i) =>
    Array.from({ length: RUN_MAX }, (__, n) => texts.slice(i, i + n + 1).join(' ')),
  );
  return labelWords(all).length === 0 ? [] : [all, ...runs];
}

/** A row that may be a header, with how many fields it names. */
interface Header {
  readonly row: Row;
  readonly hits: number;
}

/** Of headers that stand in one band, the one that names most. */
function strongestOf(
  headers: readonly Header[],
  isOneBand: (one: Header, next: Header) => boolean,
): readonly Header[] {
  const kept: Header[] = [];
  for (const header of headers) {
    const last = kept.at(-1);
    if (last === undefined || last.row.page !== header.row.page || !isOneBand(last, header))
      kept.push(header);
    else if (header.hits > last.hits) kept[kept.length - 1] = header;
  }
  return kept;
}

/** Where the top of a row stands, points. */
const top = ({ segments }: Row): number => Math.min(...segments.map(({ y0 }) => y0));
const height = ({ segments }: Row): number => Math.max(...segments.map(({ y0, y1 }) => y1 - y0));
const isNear = (above: Row, below: Row): boolean => Math.abs(top(below) - top(above)) <= NEAR * height(below);

/** Where the rows below a header end. */
interface Ending {
  /** The headers of other grids. */
  readonly starts: ReadonlySet<Row>;
  readonly isEnd: (row: Row) => boolean;
  readonly ofGoods: boolean;
}

function gridUnder(header: Row, rows: readonly Row[], ending: Ending): readonly Grid[] {
  if (ending.ofGoods) return goodsUnder(header, rows, ending);
  const band = bandAround(header, rows);
  const last = band.at(-1) ?? header;
  const body = bodyBelow(last, rows, ending);
  if (body.length === 0) return [];
  const full = body.filter(({ segments }) => segments.length > 1 || body.length < 3);
  const columns = columnSpans(full, last.segments);
  if (columns.length < 2) return [];
  const all = [...band, ...body];
  const above = rows.slice(Math.max(0, (band[0]?.index ?? 0) - 4), band[0]?.index).reverse();
  return [
    {
      rows: withWrapped(
        all,
        all.map((row) => gridRow(row, columns)),
        band.length,
      ),
      columns: columns.length,
      page: header.page,
      above: above.filter(({ page }) => page === header.page).map(textOf),
      about: above.filter(({ page }) => page === header.page).flatMap(cellsOf),
      title: titleOf(above[0], band[0]),
      follows: false,
      continues: false,
      isTurned: false,
      overColumns: (row) => nearestOver(placedCells(all[row]), columns),
    },
  ];
}

/** The same below a header of several lines, whose columns are where amounts stand. */
function goodsUnder(header: Row, rows: readonly Row[], ending: Ending): readonly Grid[] {
  const band = bandOf(header, rows);
  const body = bodyOf(
    rows.slice(header.index + 1).filter((row) => !band.includes(row)),
    band,
    ending,
  );
  if (body.length === 0) return [];
  const columns = columnsOf(band, body);
  if (columns.length < 2) return [];
  const { page } = header;
  const heads = columns.map(({ header: words }): Cell | undefined =>
    words.length === 0 ? undefined : { text: words.join(' '), page, words: [], columnSpan: 1 },
  );
  return [
    {
      rows: [heads, ...body.map((row) => gridRow(row, columns))],
      columns: columns.length,
      page,
      above: [],
      about: [],
      title: undefined,
      follows: false,
      continues: false,
      isTurned: false,
      overColumns: () => heads,
    },
  ];
}

/** Rows next to the header row that still belong to it, in points between their tops. */
const HEADER_BAND = 36;
const GAP_MAX = 70;
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
function bodyOf(rows: readonly Row[], band: readonly Row[], { isEnd, starts }: Ending): readonly Row[] {
  const body: Row[] = [];
  const left = Math.min(...band.flatMap(({ segments }) => segments.map(({ x0 }) => x0)));
  let page = band[0]?.page;
  let end = Math.max(...band.map(bottom));
  for (const row of rows) {
    if (isEnd(row) || beginsAnotherList(row, left) || (starts.has(row) && row.page !== page)) break;
    if (row.page === page ? top(row) - end > GAP_MAX : amounts(row) < 2) break;
    body.push({ ...row, segments: row.segments.flatMap(numbersApart) });
    page = row.page;
    end = bottom(row);
  }
  return body;
}

/** The header of another table, or a title at the left edge. */
function beginsAnotherList({ segments }: Row, left: number): boolean {
  if (segments.length >= 3 && segments.every(({ text }) => !/\d/.test(text))) return true;
  const [only, ...others] = segments;
  return others.length === 0 && only !== undefined && /:\s*$/.test(only.text) && only.x0 <= left + 5;
}

const amounts = ({ segments }: Row): number => segments.filter(({ text }) => isNumeric(text)).length;

/** Heights of a line from the top of one to the top of the next, within one cell. */
const WRAPPED = 1.65;

/**
 * A line that has a text in one column only, right below a text of that column, goes on with that cell: a row begins
 * where its number or its amount stands. In the first column it may be the name of a group.
 */
function withWrapped(lines: readonly Row[], cells: readonly GridRow[], header: number): readonly GridRow[] {
  const rows: GridRow[] = [];
  const begins = rowsBeginByDay(cells.slice(header));
  let [last, line]: [GridRow | undefined, Row | undefined] = [undefined, undefined];
  for (const [i, row] of cells.entries()) {
    const joined = i > header && last !== undefined && joinedTo(last, row, { line, next: lines[i], begins });
    if (joined) rows[rows.length - 1] = joined;
    else rows.push(row);
    [last, line] = [rows.at(-1), lines[i]];
  }
  return rows;
}

interface Lines {
  readonly line: Row | undefined;
  readonly next: Row | undefined;
  /** Each row has its day first. */
  readonly begins: boolean;
}

/** A row with the line below it; undefined where that begins a row of its own. */
function joinedTo(row: GridRow, next: GridRow, { line, next: below, begins }: Lines): GridRow | undefined {
  const whole = begins && isClose(line, below) ? withLine(row, next) : undefined;
  if (whole !== undefined) return whole;
  return isRightBelow(line, below) ? joinedCells(row, next) : undefined;
}

const DAYS_MIN = 2;
/** Of the first cells that are filled so many are days. */
const DAYS_SHARE = 0.6;

/** What stands first in the rows tells where each begins: a day that the lines of its text lack. */
function rowsBeginByDay(rows: readonly GridRow[]): boolean {
  const first = rows.flatMap(([cell]) => cell ?? []);
  const days = first.filter(({ text }) => isDay(text)).length;
  return days >= DAYS_MIN && days >= DAYS_SHARE * first.length;
}

/** A row that begins by a day with a line that does not: its texts go on, and its other cells are filled. */
function withLine(row: GridRow, next: GridRow): GridRow | undefined {
  if (row[0] === undefined || !isDay(row[0].text) || next[0] !== undefined) return undefined;
  const clash = next.some((cell, i) => cell !== undefined && row[i] !== undefined && !areTexts(row[i], cell));
  return clash ? undefined : row.map((cell, i) => withMore(cell, next[i]));
}

const areTexts = (one: Cell, other: Cell): boolean =>
  [one, other].every(({ text }) => /\p{L}{2}/u.test(text));

const withMore = (cell: Cell | undefined, more: Cell | undefined): Cell | undefined =>
  cell === undefined || more === undefined
    ? (cell ?? more)
    : { ...cell, text: `${cell.text} ${more.text}`, words: [...cell.words, ...more.words] };

const isClose = (line: Row | undefined, next: Row | undefined): boolean =>
  line !== undefined && line.page === next?.page && top(next) - top(line) <= WRAPPED * height(line) + 1;

function isRightBelow(line: Row | undefined, next: Row | undefined): boolean {
  if (line === undefined || !isClose(line, next)) return false;
  const under = next?.segments[0];
  return line.segments.some(({ x0 }) => Math.abs(x0 - (under?.x0 ?? 0)) < SAME_LEFT);
}

const SAME_LEFT = 6;

function joinedCells(row: GridRow, next: GridRow): GridRow | undefined {
  const [only, ...others] = next.flatMap((cell, column) => (cell === undefined ? [] : [{ cell, column }]));
  if (only === undefined || others.length > 0 || only.column === 0) return undefined;
  const cell = row[only.column];
  const hasMore = row.some(
    (other, column) => other !== undefined && column !== only.column && /\d/.test(other.text),
  );
  if (cell === undefined || !hasMore || !/\p{L}{2}/u.test(cell.text) || !/\p{L}{2}/u.test(only.cell.text))
    return undefined;
  return row.map((other, column) => (column === only.column ? withMore(other, only.cell) : other));
}

/** A text alone in the row right above the header. */
function titleOf(row: Row | undefined, header: Row | undefined): Cell | undefined {
  const [only, ...others] = row?.segments ?? [];
  if (
    only === undefined ||
    others.length > 0 ||
    header === undefined ||
    only.page !== header.segments[0]?.page
  )
    return undefined;
  return { text: only.text, page: only.page, words: only.words, columnSpan: 1 };
}

const cellsOf = ({ segments }: Row): readonly Cell[] =>
  segments.map(({ text, page, words }) => ({ text, page, words, columnSpan: 1 }));

const textOf = ({ segments }: Row): string => segments.map(({ text }) => text).join(' ');

/** The header's row with the rows of words right above and below it. */
function bandAround(header: Row, rows: readonly Row[]): readonly Row[] {
  const band = [header];
  for (let i = header.index - 1; i >= header.index - BAND_MAX; i -= 1) {
    const [row, next] = [rows[i], band[0]];
    if (row === undefined || next === undefined || !isPart(row, next)) break;
    band.unshift(row);
  }
  return band;
}

const isPart = (row: Row, next: Row): boolean =>
  row.page === next.page && isNear(row, next) && row.segments.length > 1 && !isNumbers(row);

const isNumber = (text: string): boolean => /\d/.test(text) && !/\p{L}/u.test(text);

/** Most of it are numbers, but for years. */
const isNumbers = ({ segments }: Row): boolean =>
  2 * segments.filter(({ text }) => isNumber(text) && !YEAR.test(text)).length > segments.length;

/** Rows down to white, or to the next header; on the next page while its first rows look alike. */
function bodyBelow(header: Row, rows: readonly Row[], { starts, isEnd }: Ending): readonly Row[] {
  const body: Row[] = [];
  let last = header;
  for (const row of rows.slice(header.index + 1, header.index + 1 + BODY_MAX)) {
    const isNext = starts.has(row) && (body.length > BAND_MAX || body.some((one) => /\d/.test(textOf(one))));
    if (isNext || isEnd(row) || beginsAnother(row, rows[row.index + 1], body)) break;
    if (row.page === last.page ? top(row) - top(last) > WHITE_MAX * height(row) : !goesOver(row, rows, body))
      break;
    body.push(row);
    last = row;
  }
  return body;
}

/** Rows at the top of a page that are looked at. */
const TOP_ROWS = 8;

/** Half of the first rows of the page have about as many cells as the rows before it, and some number. */
function goesOver(first: Row, rows: readonly Row[], body: readonly Row[]): boolean {
  const counts = body
    .slice(-TOP_ROWS)
    .map(({ segments }) => segments.length)
    .sort((a, b) => a - b);
  const usual = counts[Math.floor(counts.length / 2)] ?? 0;
  const next = rows.slice(first.index, first.index + TOP_ROWS).filter(({ page }) => page === first.page);
  const alike = next.filter(
    (row) => Math.abs(row.segments.length - usual) <= 1 && row.segments.some(({ text }) => isNumber(text)),
  );
  return usual > 2 && 2 * alike.length >= next.length;
}

/** Words alone, after rows with numbers: another table's header; a label before a text alone: the lines of a form. */
const beginsAnother = (row: Row, next: Row | undefined, body: readonly Row[]): boolean =>
  (isAlone(row) && /\p{L}\s?:$/u.test(textOf(row)) && next !== undefined && isAlone(next)) ||
  (row.segments.length > 1 &&
    !/\d/.test(textOf(row)) &&
    body.slice(-3).some((one) => /\d/.test(textOf(one))));

const isAlone = ({ segments }: Row): boolean => segments.length === 1;
