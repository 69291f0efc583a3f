import { setTimeout as pause } from 'node:timers/promises';
import { invalid } from './problems.ts';
import { csvColumns, type Column } from './csvColumns.ts';
import { type AnyRequest, isRaw, type RawBody, type ServedRoute } from './routes.ts';

/** RFC 4180, with names in the first line. */
export const CSV_TYPE = 'text/csv; charset=utf-8; header=present';
export const BOM = '\uFEFF';
/** Rows of one statement: few enough that making them holds the main thread for some milliseconds only. */
export const CSV_PAGE_ROWS = 200;
/** Characters that are handed over at once. */
const PIECE_CHARS = 65_536;
/** Exports leave two thirds of the time to others: at half of it, others' median doubled. */
const PAUSE_SHARE = 2;
/** The longest pause between two pages, ms. */
const PAUSE_MS_MAX = 2_000;

/** Beginnings by which spreadsheets take a text for a formula; the wide forms are those of East Asian input. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/u;
const NUMBER = /^-?\d{1,40}(?:\.\d{1,40})?$/;
const NEEDS_QUOTES = /[",\r\n]|^\s|\s$|^$/;

/** A spreadsheet shows the apostrophe or hides it, but computes nothing. */
const harmless = (text: string): string => (FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text);

/** Nothing at all is null; an empty text has quotes. */
const cellOf = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = harmless(typeof value === 'string' ? value : JSON.stringify(value));
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

const valueAt = (item: unknown, path: Column): unknown => {
  let value = item;
  for (const name of path) value = (value as Readonly<Record<string, unknown>> | null | undefined)?.[name];
  return value;
};

/** One line with its end. */
export const csvLine = (cells: readonly unknown[]): string => `${cells.map(cellOf).join(',')}\r\n`;

/** A page of a list, as its handler gives it. */
interface CsvPage {
  readonly items: readonly unknown[];
  readonly next_cursor?: string | null;
  readonly total_is_at_least?: true;
}

/** Work of one kind in this process, one piece after the other, with a pause after each for all else. */
export const inTurns = () => {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    let tookMs = 0;
    const timed = async (): Promise<T> => {
      const from = performance.now();
      return work().finally(() => (tookMs = performance.now() - from));
    };
    const mine = last.then(timed);
    const rest = () => pause(Math.min(PAUSE_MS_MAX, PAUSE_SHARE * tookMs));
    last = mine.then(rest, rest);
    return mine;
  };
};

/** Does the work of one page when it is its turn. */
export const inTurn = inTurns();

const numbered = (_name: string, value: unknown): unknown =>
  typeof value === 'bigint' ? Number(value) : value;

interface CsvDeps {
  /** JSON with the texts of its tokens. */
  readonly withTexts: (json: string) => Promise<string>;
}

/** Whether the caller would rather have a list as CSV. */
export const prefersCsv = (route: ServedRoute, { prefers }: Pick<AnyRequest, 'prefers'>): boolean =>
  prefers(['application/json', 'text/csv']) === 'text/csv' && csvColumns(route) !== undefined;

const checkWhole = (query: Readonly<Record<string, unknown>>): void => {
  const name = query['cursor'] === undefined ? 'offset' : 'cursor';
  if (query[name] === undefined || query[name] === 0) return;
  const msg = 'A CSV has every row of the query: leave this out.';
  throw invalid({ loc: ['query', name], msg, type: 'value_error' });
};

interface Walk {
  readonly first: CsvPage;
  /** undefined: nobody reads it any more. */
  readonly following: (cursor: string) => Promise<CsvPage | undefined>;
}

/** The lines of all pages; a page is asked for once the one before it was taken. */
async function* csvPieces(
  start: string,
  columns: readonly Column[],
  { first, following }: Walk,
): AsyncGenerator<string> {
  let text = start;
  let page: CsvPage | undefined = first;
  while (page !== undefined) {
    for (const item of page.items) {
      text += csvLine(columns.map((path) => valueAt(item, path)));
      if (text.length < PIECE_CHARS) continue;
      yield text;
      text = '';
    }
    const { next_cursor = null }: CsvPage = page;
    if (text !== '') yield text;
    text = '';
    page = next_cursor === null ? undefined : await following(next_cursor);
  }
}

/**
 * Every row of a list as CSV, read page by page while the caller reads: no statement is open in between, so a slow
 * reader holds nothing of the database, and one that hangs up ends the walk.
 */
export const csvAnswer = async (
  route: ServedRoute,
  request: AnyRequest,
  { withTexts }: CsvDeps,
): Promise<RawBody> => {
  const columns = csvColumns(route) ?? [];
  const query = (request.query ?? {}) as Readonly<Record<string, unknown>>;
  checkWhole(query);
  const { signal } = request;
  const made = (cursor: string | null): Promise<unknown> => {
    const isPaged = 'limit' in query;
    const asked = { ...query, ...(isPaged && { limit: CSV_PAGE_ROWS }), ...(cursor !== null && { cursor }) };
    return inTurn(() => route.handle({ ...request, query: asked }, undefined));
  };
  const pageOf = async (body: unknown): Promise<CsvPage> =>
    JSON.parse(await withTexts(JSON.stringify(body, numbered))) as CsvPage;
  const answered = await made(null);
  // A file in a layout of its own.
  if (isRaw(answered)) return answered;
  const first = await pageOf(answered);
  const isPartial = first.total_is_at_least === true;
  // A file has no place for it but its name.
  if (isPartial) request.answer.header('X-Total-Is-At-Least', 'true');
  const name = `${route.operationId}${isPartial ? '.partial' : ''}.csv`;
  request.answer.header('Content-Disposition', `attachment; filename="${name}"`);
  const start = `${query['bom'] === true ? BOM : ''}${csvLine(columns.map((path) => path.join('.')))}`;
  const following = async (cursor: string) => (signal.aborted ? undefined : pageOf(await made(cursor)));
  return { contentType: CSV_TYPE, body: csvPieces(start, columns, { first, following }) };
};
