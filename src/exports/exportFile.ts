import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import type { SchemaElement } from 'hyparquet-writer';
import { decimalOf, parseDecimal } from '../../domain/kernel/amounts.ts';
import { csvLine } from '../server/csv.ts';
import type { ExportColumn, ExportRow } from './exports.ts';

/** A file while it is written: rows, or text as it is. */
export interface GrowingFile {
  readonly add: (rows: readonly ExportRow[]) => Promise<void>;
  /** Closes it. */
  readonly end: () => Promise<void>;
}

/** How a file is written. One more is one entry in `FORMATS`. */
type Format = (path: string, columns: readonly ExportColumn[]) => Promise<GrowingFile>;

const csvFile: Format = async (path, columns) => {
  const file: FileHandle = await open(path, 'w', 0o600);
  await file.writeFile(csvLine(columns.map(({ name }) => name)));
  return {
    add: (rows) => file.writeFile(rows.map(csvLine).join('')),
    end: () => file.close(),
  };
};

/** Rows of one group: each is as large as its columns need in memory, and readers skip it as a whole. */
const GROUP_ROWS = 20_000;
const USD_DIGITS = 6;

const TYPES: Readonly<Record<ExportColumn['type'], Omit<SchemaElement, 'name'>>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
  whole: { type: 'INT64', repetition_type: 'OPTIONAL' },
  usd: {
    type: 'INT64',
    converted_type: 'DECIMAL',
    precision: 18,
    scale: USD_DIGITS,
    repetition_type: 'OPTIONAL',
  },
};

/** Micro-USD, or the whole number, of a cell. */
const unitsOf = (cell: string, { type }: ExportColumn): bigint =>
  type === 'usd' ? parseDecimal(cell).units : BigInt(cell);

const parquetFile: Format = async (path, columns) => {
  // Loaded here, because nothing else needs it.
  const { ParquetWriter, fileWriter } = await import('hyparquet-writer');
  const schema: SchemaElement[] = [
    { name: 'root', num_children: columns.length },
    ...columns.map((column): SchemaElement => ({ name: column.name, ...TYPES[column.type] })),
  ];
  const writer = new ParquetWriter({ writer: fileWriter(path), schema });
  let waiting: ExportRow[] = [];
  const write = async (rows: readonly ExportRow[]): Promise<void> => {
    const columnData = columns.map((column, at) => ({
      name: column.name,
      data: rows.map((row) => {
        const cell = row[at] ?? null;
        return cell === null || column.type === 'text' ? cell : unitsOf(cell, column);
      }),
    }));
    await writer.write({ columnData, rowGroupSize: GROUP_ROWS });
  };
  return {
    add: async (rows) => {
      waiting.push(...rows);
      while (waiting.length >= GROUP_ROWS) {
        await write(waiting.slice(0, GROUP_ROWS));
        waiting = waiting.slice(GROUP_ROWS);
      }
    },
    end: async () => {
      if (waiting.length > 0) await write(waiting);
      await writer.finish();
    },
  };
};

export const FORMATS = { csv: csvFile, parquet: parquetFile } as const satisfies Readonly<
  Record<string, Format>
>;

export type ExportFormat = keyof typeof FORMATS;
export const FORMAT_NAMES = Object.keys(FORMATS) as readonly ExportFormat[];

/** A file of text that is laid out already. */
export const textFile = async (
  path: string,
): Promise<{ add: (text: string) => Promise<void>; end: () => Promise<void> }> => {
  const file = await open(path, 'w', 0o600);
  return { add: (text) => file.writeFile(text), end: () => file.close() };
};

/** Sums of columns as text, as rows go by. */
export const summing = (columns: readonly ExportColumn[]) => {
  const sums = new Map<number, bigint>();
  let rows = 0;
  return {
    add: (page: readonly ExportRow[]): void => {
      rows += page.length;
      for (const [at, column] of columns.entries())
        if (column.isSummed)
          sums.set(
            at,
            page.reduce((sum, row) => sum + unitsOf(row[at] ?? '0', column), sums.get(at) ?? 0n),
          );
    },
    rows: () => rows,
    sums: (): Readonly<Record<string, string>> =>
      Object.fromEntries(
        [...sums].map(([at, sum]) => {
          const { name = '', type } = columns[at] ?? {};
          return [name, type === 'usd' ? decimalOf(sum, USD_DIGITS) : String(sum)];
        }),
      ),
  };
};

/** Digest and size of a file. */
export const digestOf = async (
  path: string,
): Promise<{ readonly bytes: number; readonly sha256: string }> => {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) hash.update(piece);
  return { bytes: (await stat(path)).size, sha256: hash.digest('hex') };
};

/** Writes a file beside its place and moves it there once it is whole. */
export const inPlace = async <T>(path: string, write: (part: string) => Promise<T>): Promise<T> => {
  const part = `${path}.part`;
  try {
    const done = await write(part);
    await rename(part, path);
    return done;
  } finally {
    await rm(part, { force: true });
  }
};
