import { Readable } from 'node:stream';
import { z } from 'zod';
import type { JsonObject } from '../../domain/kernel/json.ts';
import {
  type CitedPlace,
  type ResultRow,
  type ResultRows,
  type ResultShape,
  shapeOf,
  tableOf,
  WHOLE,
} from '../exports/resultTables.ts';
import { type CellValue, type Sheet, SHEET_ROWS_MAX, workbookPieces, XLSX_TYPE } from '../exports/xlsx.ts';
import { BOM, CSV_TYPE, csvLine, inTurn } from '../server/csv.ts';
import { invalid, retryLater } from '../server/problems.ts';
import type { AnyRequest, RawBody } from '../server/routes.ts';
import { booleanText, plainText } from './schemas/basics.ts';

/** The types in which results are given beside JSON. */
export const FILE_TYPES = ['text/csv', XLSX_TYPE] as const;
type FileType = (typeof FILE_TYPES)[number];

export const FILE_WORDS =
  'With `Accept: text/csv` or XLSX it is a table: a line for each document, a column for each value, and a sheet for ' +
  'each list of objects, whose lines name the document and their place in the list. A CSV is one of these tables.';

/** What a query says of the tables that are wanted. */
export const fileQuery = {
  citations: booleanText.default(false).meta({
    description: 'In a table: page, text, confidence and origin of each value stand beside it.',
  }),
  table: plainText(1, 500)
    .optional()
    .meta({
      description:
        'Of a CSV: a list of objects in the results by its JSON Pointer, such as `/line_items` or `/orders/*/lines`; ' +
        'of a conversion, the number of a table, from 1. Default: the results themselves, or the only table.',
    }),
  bom: booleanText.default(false).meta({
    description: 'Of a CSV: it begins with a byte order mark, which Excel needs to read UTF-8.',
  }),
};
const fileWish = z.object(fileQuery);
type FileWish = z.output<typeof fileWish>;

type Asked = Pick<AnyRequest, 'prefers' | 'answer' | 'signal'> & { readonly query: FileWish };

/** The type of table that the caller prefers to what the route answers by itself; undefined: none. */
export const wantedFile = (
  { prefers }: Pick<AnyRequest, 'prefers'>,
  own: readonly string[] = ['application/json'],
): FileType | undefined => {
  const best = prefers([...own, ...FILE_TYPES]);
  return FILE_TYPES.find((type) => type === best);
};

const complaint = (msg: string, member = 'table') =>
  invalid({ loc: member === 'accept' ? ['header', 'accept'] : ['query', member], msg, type: 'value_error' });

/** Pieces of a file; nothing more is made once the caller has hung up. */
interface FileParts {
  readonly name: string;
  readonly type: FileType;
  readonly body: () => AsyncIterable<string | Uint8Array>;
}

const sent = ({ answer, signal }: Asked, { name, type, body }: FileParts): RawBody => {
  const ending = type === XLSX_TYPE ? 'xlsx' : 'csv';
  answer.header('Content-Disposition', `attachment; filename="${name}.${ending}"`);
  answer.header('Vary', 'Accept');
  async function* whileRead() {
    for await (const piece of body()) {
      if (signal.aborted) return;
      yield piece;
    }
  }
  return { contentType: type === XLSX_TYPE ? XLSX_TYPE : CSV_TYPE, body: whileRead() };
};

/** Characters of lines that are handed over at once. */
const PIECE_CHARS = 65_536;

async function* csvPieces(
  lines: AsyncIterable<readonly CellValue[]> | Iterable<readonly CellValue[]>,
  bom: boolean,
): AsyncGenerator<string> {
  let text = bom ? BOM : '';
  for await (const cells of lines) {
    text += csvLine(cells);
    if (text.length < PIECE_CHARS) continue;
    yield text;
    text = '';
  }
  yield text;
}

/** The lines of a table below their names. */
async function* withTitles(
  columns: readonly string[],
  rows: () => AsyncIterable<readonly CellValue[]>,
): AsyncGenerator<readonly CellValue[]> {
  yield columns;
  yield* rows();
}

const lastSegment = (pointer: string): string => pointer.slice(pointer.lastIndexOf('/') + 1);

const resultSheets = (rows: ResultRows, shape: ResultShape, citations: boolean): readonly Sheet[] =>
  [...shape.tables.keys()].map((table) => {
    const { columns, rows: lines } = tableOf(rows, shape, { table, citations, lists: false });
    const name = table === WHOLE ? 'Results' : lastSegment(table);
    return { name, headerRows: 1, rows: () => withTitles(columns, lines) };
  });

const checkRows = (rows: number): void => {
  if (rows >= SHEET_ROWS_MAX)
    throw complaint(`A sheet holds ${String(SHEET_ROWS_MAX)} rows: ask for text/csv.`, 'accept');
};

const checkTable = ({ tables }: ResultShape, table: string): void => {
  if (tables.has(table)) return;
  const known = [...tables.keys()].filter((name) => name !== WHOLE);
  const others = known.length === 0 ? 'They have none.' : `They have ${known.join(', ')}.`;
  throw complaint(`The results have no such list of objects. ${others}`);
};

/** One result after the other, each in turn with all other exports, until the caller has hung up. */
const inTurnFor = ({ signal }: Pick<Asked, 'signal'>, rows: ResultRows): ResultRows =>
  async function* (only) {
    const results = rows(only)[Symbol.asyncIterator]();
    const next = (): Promise<IteratorResult<ResultRow, unknown>> =>
      signal.aborted ? Promise.resolve({ done: true, value: undefined }) : results.next();
    try {
      for (let one = await inTurn(next); one.done !== true; one = await inTurn(next)) yield one.value;
    } finally {
      await results.return?.();
    }
  };

/** Results as one table, or as a workbook of all their tables. */
export const resultFile = async (
  request: Asked,
  type: FileType,
  { name, rows: all }: { readonly name: string; readonly rows: ResultRows },
): Promise<RawBody> => {
  const { citations, table = WHOLE, bom } = request.query;
  const rows = inTurnFor(request, all);
  const shape = await shapeOf(rows);
  if (request.signal.aborted) throw retryLater('busy', 'Nobody reads this answer.');
  if (type === XLSX_TYPE) {
    for (const one of shape.tables.values()) checkRows(one.rows);
    return sent(request, { name, type, body: () => workbookPieces(resultSheets(rows, shape, citations)) });
  }
  checkTable(shape, table);
  const { columns, rows: lines } = tableOf(rows, shape, { table, citations, lists: true });
  return sent(request, { name, type, body: () => csvPieces(withTitles(columns, lines), bom) });
};

/** A table of a document, as a conversion gives it. */
interface DocumentTable {
  readonly page: number;
  readonly header_rows: number;
  readonly rows: readonly (readonly string[])[];
}

const NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,10})?$/;

/** Digits that have one meaning become a number; what might be a code or of another country stays a text. */
const tableCell = (text: string): CellValue => {
  if (text === '') return null;
  return NUMBER.test(text) && text.replace(/\D/g, '').length <= 15 ? Number(text) : text;
};

const documentSheet = ({ page, header_rows, rows }: DocumentTable, index: number): Sheet => ({
  name: `Table ${String(index + 1)} (page ${String(page)})`,
  headerRows: header_rows,
  rows: () => rows.map((cells, at) => (at < header_rows ? cells : cells.map(tableCell))),
});

const chosenTable = (
  tables: readonly DocumentTable[],
  table: string | undefined,
): DocumentTable | undefined => {
  const count = String(tables.length);
  if (table === undefined) {
    if (tables.length > 1)
      throw complaint(`The document has ${count} tables: name one by table=1 to ${count}, or ask for XLSX.`);
    return tables[0];
  }
  const found = /^\d{1,6}$/.test(table) ? tables[Number(table) - 1] : undefined;
  if (found === undefined) throw complaint(`The document has no table ${table}; it has ${count}.`);
  return found;
};

/** The tables of a converted document: one sheet each, or one of them as CSV. */
const documentFile = (
  request: Asked,
  type: FileType,
  { name, body }: { readonly name: string; readonly body: JsonObject },
): RawBody => {
  const tables = body['tables'] as readonly DocumentTable[] | undefined;
  if (tables === undefined)
    throw complaint('This conversion has no tables: convert the document with include=tables.', 'accept');
  const { table, bom } = request.query;
  if (type === XLSX_TYPE) {
    const none: Sheet = { name: 'No tables', headerRows: 0, rows: () => [] };
    const sheets = tables.length === 0 ? [none] : tables.map(documentSheet);
    return sent(request, { name, type, body: () => workbookPieces(sheets) });
  }
  const rows = chosenTable(tables, table)?.rows ?? [];
  return sent(request, { name, type, body: () => csvPieces(rows, bom) });
};

/** An operation as a line of a table. */
interface ToldOperation {
  readonly operation_id: string | null;
  readonly document_id: string;
  readonly status: string;
  readonly error: { readonly code: string } | null;
  readonly cost: { readonly credits_used: number; readonly pages: number } | null;
}

interface AnswerMeta {
  readonly file_name?: string | null;
  readonly citations?: readonly CitedPlace[];
}

/** What a table shows of an answer; of none, nothing. */
const shownOf = (answer: JsonObject | null): Pick<ResultRow, 'result' | 'citations'> & NamedFile => {
  const { meta = {}, result = null } = (answer ?? {}) as {
    readonly meta?: AnswerMeta;
    readonly result?: JsonObject;
  };
  return { result, citations: meta.citations ?? [], file_name: meta.file_name ?? null };
};

interface NamedFile {
  readonly file_name: string | null;
}

/** A result, or why there is none, as the row of a table. */
export const resultRow = (
  { operation_id, document_id, status, error, cost }: ToldOperation,
  answer: JsonObject | null,
  place: Readonly<Record<string, CellValue>> = {},
): ResultRow => {
  const { file_name, result, citations } = shownOf(answer);
  const { pages = null, credits_used = null } = cost ?? {};
  return {
    facts: {
      ...place,
      document_id,
      file_name,
      operation_id,
      status,
      error: error?.code ?? null,
      pages,
      credits_used,
    },
    result,
    citations,
  };
};

/** What one piece of work gave, as tables: those of a converted document, or the values. */
export const workFile = async (
  request: Asked,
  type: FileType,
  work: {
    readonly name: string;
    readonly kind: string;
    readonly told: Parameters<typeof resultRow>[0];
    readonly answer: JsonObject | null;
  },
): Promise<RawBody> => {
  const { name, kind, told, answer } = work;
  if (kind === 'to_markdown' && answer !== null) return documentFile(request, type, { name, body: answer });
  const row = resultRow(told, answer);
  return resultFile(request, type, { name, rows: () => Readable.from([row]) });
};
