import type { SqlRow, SqlValue } from '../../../projections/engine/ports.ts';

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
