import type { SqlRow } from '../ports.ts';
import { parsed, type Column, type Columns, type RowOf } from '../table.ts';

const wrong = (name: string, value: unknown): TypeError =>
  new TypeError(`column ${name} holds ${value === null ? 'null' : typeof value}`);

/** A text column that is never null. */
export const textOf = (row: SqlRow, name: string): string => {
  const value = row[name];
  if (typeof value !== 'string') throw wrong(name, value);
  return value;
};

export const textOrNull = (row: SqlRow, name: string): string | null =>
  row[name] === null ? null : textOf(row, name);

/** A whole number that is safe in JSON: int4, or int8 within ±2^53. */
export const wholeOf = (row: SqlRow, name: string): number => {
  const value = row[name];
  const whole = typeof value === 'bigint' ? Number(value) : value;
  if (typeof whole !== 'number' || !Number.isSafeInteger(whole)) throw wrong(name, value);
  return whole;
};

export const wholeOrNull = (row: SqlRow, name: string): number | null =>
  row[name] === null ? null : wholeOf(row, name);

export const bigintOf = (row: SqlRow, name: string): bigint => {
  const value = row[name];
  if (typeof value !== 'bigint') throw wrong(name, value);
  return value;
};

export const bigintOrNull = (row: SqlRow, name: string): bigint | null =>
  row[name] === null ? null : bigintOf(row, name);

/** A numeric column that holds a whole number. */
export const wholeNumericOf = (row: SqlRow, name: string): bigint => {
  const value = row[name];
  return typeof value === 'bigint' ? value : BigInt(textOf(row, name));
};

export const flagOf = (row: SqlRow, name: string): boolean => {
  const value = row[name];
  if (typeof value !== 'boolean') throw wrong(name, value);
  return value;
};

/** What columns are in rows that are read: JSON is not checked yet. */
interface Read {
  readonly whole: number;
  readonly big: bigint;
  readonly json: unknown;
}

type ReadColumn = (row: SqlRow, name: string) => unknown;

const READERS: Readonly<Record<ReturnType<typeof parsed>['kind'], ReadColumn>> = {
  text: textOf,
  sorted: textOf,
  int2: wholeOf,
  int4: wholeOf,
  int8: wholeOf,
  position: bigintOf,
  numeric: wholeNumericOf,
  boolean: flagOf,
  jsonb: (row, name) => row[name],
};

const readerOf = (column: Column): ReadColumn => {
  const { kind, isNullable } = parsed(column);
  const read = READERS[kind];
  return isNullable ? (row, name) => (row[name] === null ? null : read(row, name)) : read;
};

/**
 * An object with these members, of one shape. V8 keeps objects that are put together by computed names as hash
 * tables beyond a dozen members, which are slow to read and to copy; parsed ones it does not.
 */
const shapeWith = (names: readonly string[]): Record<string, unknown> =>
  JSON.parse(`{${names.map((name) => `${JSON.stringify(name)}:null`).join(',')}}`) as Record<string, unknown>;

/** Reads columns of a row as their definitions say; throws where one holds something else. */
export const rowReader = <C extends Columns>(columns: C): ((row: SqlRow) => RowOf<C, Read>) => {
  const readers = Object.entries(columns).map(([name, column]) => ({ name, read: readerOf(column) }));
  const shape = shapeWith(Object.keys(columns));
  return (row) => {
    const members = { ...shape };
    for (const { name, read } of readers) members[name] = read(row, name);
    return members as RowOf<C, Read>;
  };
};

/** The only row of a result that always has one. */
export const onlyRow = (rows: readonly SqlRow[]): SqlRow => {
  const [row] = rows;
  if (row === undefined) throw new Error('the statement gave no row');
  return row;
};
