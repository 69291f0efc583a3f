import { createHash } from 'node:crypto';
import Papa from 'papaparse';
import type { ParseFailure } from '../ports/documentParser.ts';
import type { TableFile, TableLimits } from '../ports/documentTools.ts';
import type { Sniffed } from './pieces/opened.ts';
import type { ReceivedFile } from './pieces/received.ts';
import { sniff } from './sniff.ts';
import { DELIMITERS, separatorOf } from './sheets/openCsv.ts';
import { workbookOf } from './sheets/openWorkbook.ts';

/** Thrown where reading on would gain nothing. */
class Refused extends Error {
  override readonly name = 'Refused';
  readonly answer: TableFile;
  constructor(answer: TableFile) {
    super('the table is refused');
    this.answer = answer;
  }
}

const unfit = (detail: string): Refused => new Refused({ kind: 'no_table', detail });

/** What a table may have too much of, in the words of its answer. */
const NAMES = {
  rows: 'rows',
  columns: 'columns',
  cell_characters: 'characters in a cell',
  row_characters: 'characters in a row',
  bytes: 'bytes as it is kept',
} as const;

const beyond = (limit: keyof typeof NAMES, { [limit]: max }: TableLimits): Refused =>
  new Refused({
    kind: 'beyond_limits',
    limit,
    max,
    detail: `The table has more than ${String(max)} ${NAMES[limit]}.`,
  });

/** The last cell of a row that says something, from 1. */
const widthOf = (row: readonly string[]): number => row.findLastIndex((cell) => cell !== '') + 1;

const headerOf = (row: readonly string[]): readonly string[] => {
  const columns = row.slice(0, widthOf(row));
  const unnamed = columns.indexOf('');
  if (unnamed >= 0) throw unfit(`Column ${String(unnamed + 1)} has no name in the first row.`);
  const twice = columns.find((name, at) => columns.indexOf(name) !== at);
  if (twice !== undefined) throw unfit('Two columns have the same name in the first row.');
  return columns;
};

/** Collects rows as they come, and throws with the first that no table may have. */
const collector = (limits: TableLimits) => {
  const lines: Buffer[] = [];
  let columns: readonly string[] | undefined;
  let bytes = 0;
  const keep = (cells: readonly string[]): void => {
    const line = Buffer.from(`${JSON.stringify(cells)}\n`);
    bytes += line.length;
    if (bytes > limits.bytes) throw beyond('bytes', limits);
    lines.push(line);
  };
  const checkCells = (row: readonly string[], width: number): void => {
    if (width > limits.columns) throw beyond('columns', limits);
    let characters = 0;
    for (const cell of row) {
      if (cell.length > limits.cell_characters) throw beyond('cell_characters', limits);
      characters += cell.length;
    }
    if (characters > limits.row_characters) throw beyond('row_characters', limits);
  };
  return {
    add: (cells: readonly string[]): void => {
      const row = cells.map((cell) => cell.replaceAll('\0', '').trim());
      const width = widthOf(row);
      if (width === 0) return;
      checkCells(row, width);
      if (columns === undefined) {
        columns = headerOf(row);
        keep(columns);
        return;
      }
      if (width > columns.length) throw unfit('A row has more cells than the first row has names.');
      if (lines.length > limits.rows) throw beyond('rows', limits);
      keep(columns.map((_, at) => row[at] ?? ''));
    },
    table: (): TableFile => {
      if (columns === undefined || lines.length < 2)
        throw unfit(
          'The file has no table: the first row has the names of the columns, the others are data.',
        );
      const all = Buffer.concat(lines);
      const sha256 = createHash('sha256').update(all).digest('hex');
      return { kind: 'table', columns, rows: lines.length - 1, lines: all, sha256 };
    },
  };
};

/** No text has it: one column is parted by nothing. */
const NONE = '\u001f';
const HEADER_CHARACTERS = 200_000;

/** The delimiter that parts the names of the columns most often, outside of quotes. */
const delimiterIn = (text: string): string => {
  const start = text
    .slice(0, HEADER_CHARACTERS)
    .trimStart()
    .replaceAll(/"[^"]*"/g, '');
  const [header = ''] = start.split(/[\r\n]/, 1);
  const counts = DELIMITERS.map((one) => header.split(one).length - 1);
  const most = Math.max(...counts);
  return most === 0 ? NONE : (DELIMITERS[counts.indexOf(most)] ?? NONE);
};

/** Row by row, so that a file of millions of rows is given up with the first that is too much. */
const readCsv = (text: string, add: (row: readonly string[]) => void): void => {
  const { shown, delimiter } = separatorOf(text);
  Papa.parse<string[]>(shown, {
    delimiter: delimiter ?? delimiterIn(shown),
    skipEmptyLines: 'greedy',
    step: ({ data }) => add(data),
  });
};

/** The first sheet that shows anything: what cells show, never what a formula would make of it now. */
const readSheet = (bytes: Buffer, add: (row: readonly string[]) => void): ParseFailure | undefined => {
  const book = workbookOf(bytes);
  if ('kind' in book) return book;
  const sheet = book.sheets.find(({ texts }) => texts.rows.size > 0);
  const rows = [...(sheet?.texts.rows ?? [])].sort(([a], [b]) => a - b);
  const first = Math.min(...(rows[0]?.[1].keys() ?? []));
  for (const [, cells] of rows) {
    const left = Math.min(first, ...cells.keys());
    if (left < first) throw unfit('A row begins to the left of the names of the columns.');
    const width = Math.max(...cells.keys()) - first + 1;
    add(Array.from({ length: width }, (_, at) => cells.get(first + at) ?? ''));
  }
  return undefined;
};

const WORKBOOK_OR_CSV =
  'A table is a CSV file (UTF-8, or as a spreadsheet program saves it) or an XLSX workbook.';

const textIn = (type: Sniffed, fileName: string | null): string | undefined => {
  if (type.kind !== 'known' || type.text === undefined) return undefined;
  const isNamed = /\.(?:csv|tsv|tab|txt)$/i.test(fileName ?? '');
  return isNamed || type.format === 'csv' || type.format === 'text' ? type.text : undefined;
};

/**
 * The table of a CSV file or of a workbook: the first row has the names of its columns, all cells are text. Rows
 * without any text are left out. It is given as lines of JSON, the names first.
 */
export async function readTableFile(
  { bytes, fileName }: Pick<ReceivedFile, 'bytes' | 'fileName'>,
  limits: TableLimits,
): Promise<TableFile | ParseFailure> {
  const type = await sniff(bytes, fileName);
  if (type.kind === 'empty') return { kind: 'empty', detail: 'The file is empty.' };
  const text = textIn(type, fileName);
  const isWorkbook = type.kind === 'known' && type.format === 'xlsx';
  if (type.kind === 'damaged') return { kind: 'unreadable', detail: type.detail };
  if (text === undefined && !isWorkbook) return { kind: 'unsupported', detail: WORKBOOK_OR_CSV };
  const { add, table } = collector(limits);
  try {
    if (text === undefined) return readSheet(bytes, add) ?? table();
    readCsv(text, add);
    return table();
  } catch (error) {
    if (error instanceof Refused) return error.answer;
    throw error;
  }
}
