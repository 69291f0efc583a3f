import { type SqlRow, SqlUnavailable, type SqlValue } from '../../projections/engine/ports.ts';

/** The error of a statement that was prepared for tables that have other columns now. */
export const STALE_PLAN = '0A000';

/** A statement that PGlite refused, with its SQLSTATE; '' where it has none. */
class PgliteError extends Error {
  override readonly name = 'PgliteError';
  readonly code: string;
  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}

/** No room, no memory, a disk that fails: the same statement succeeds once that is mended. */
const isLackOfMeans = (code: string): boolean => /^(53|58)...$/.test(code);

/** The error that callers of `Sql` get for a statement that failed. */
export const refusal = (message: string, code: string): Error =>
  isLackOfMeans(code)
    ? new SqlUnavailable(`embedded Postgres cannot write: ${message}`)
    : new PgliteError(message, code);

/** What a commit that Postgres has turned into a rollback means. */
export const requireCommitted = (tag: string): void => {
  if (tag === 'ROLLBACK') throw new PgliteError('the transaction was aborted by an earlier error', '25P02');
};

/** A result column: its name and the OID of its type. */
export interface ResultField {
  readonly name: string;
  readonly type: number;
}

/** Rows as the wire protocol has them: text or null. */
export type TextRow = readonly (string | null)[];

const quoted = (text: string): string =>
  /["\\]/.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : `"${text}"`;

const arrayElement = (value: SqlValue): string => {
  if (value === null) return 'NULL';
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'object') return arrayLiteral(value);
  return String(value);
};

const arrayLiteral = (values: readonly SqlValue[]): string => `{${values.map(arrayElement).join(',')}}`;

/** A parameter in Postgres' text format; an array becomes an array literal. */
export const textOfValue = (value: SqlValue): string | null => {
  if (value === null || typeof value === 'string') return value;
  if (typeof value === 'object') return arrayLiteral(value);
  return String(value);
};

/** Splits a one-dimensional array literal into its elements. */
const elementsOf = (literal: string): readonly (string | null)[] => {
  const elements: (string | null)[] = [];
  const pattern = /"((?:[^"\\]|\\.)*)"|([^,{}"]+)/g;
  for (const [, quotedText, bare] of literal.matchAll(pattern)) {
    if (quotedText !== undefined) elements.push(quotedText.replace(/\\(.)/g, '$1'));
    else elements.push(bare === 'NULL' || bare === undefined ? null : bare);
  }
  return elements;
};

type Parse = (text: string) => unknown;

const arrayOf =
  (parse: Parse): Parse =>
  (literal) =>
    elementsOf(literal).map((element) => (element === null ? null : parse(element)));

const asText: Parse = (text) => text;
const asBoolean: Parse = (text) => text === 't';

/** By type OID; what is not here (text, numeric, timestamps) stays text. */
const PARSERS: ReadonlyMap<number, Parse> = new Map<number, Parse>([
  [16, asBoolean],
  [20, BigInt],
  [21, Number],
  [23, Number],
  [26, Number],
  [700, Number],
  [701, Number],
  [114, JSON.parse],
  [3802, JSON.parse],
  [1000, arrayOf(asBoolean)],
  [1007, arrayOf(Number)],
  [1016, arrayOf(BigInt)],
  [1009, arrayOf(asText)],
  [1015, arrayOf(asText)],
]);

/** Rows as the `Sql` port promises them, from the wire's text. */
export const rowsOf = (fields: readonly ResultField[], rows: readonly TextRow[]): readonly SqlRow[] => {
  const parsers = fields.map(({ type }) => PARSERS.get(type) ?? asText);
  return rows.map((values) => {
    const row: Record<string, unknown> = {};
    fields.forEach(({ name }, i) => {
      const value = values[i] ?? null;
      row[name] = value === null ? null : (parsers[i] ?? asText)(value);
    });
    return row;
  });
};

/** Runs work one after another, in the order of the calls. */
export type Turns = <T>(work: () => Promise<T>) => Promise<T>;

export const oneAtATime = (): Turns => {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work, work);
    last = turn.catch(() => undefined);
    return turn;
  };
};
