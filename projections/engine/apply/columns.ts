import type { SqlRow } from '../ports.ts';

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

export const flagOf = (row: SqlRow, name: string): boolean => {
  const value = row[name];
  if (typeof value !== 'boolean') throw wrong(name, value);
  return value;
};

/** The only row of a result that always has one. */
export const onlyRow = (rows: readonly SqlRow[]): SqlRow => {
  const [row] = rows;
  if (row === undefined) throw new Error('the statement gave no row');
  return row;
};
