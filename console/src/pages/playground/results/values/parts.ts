import type { ValueRow } from '../../values.ts';

/** One object of a list. */
export interface TableLine {
  readonly path: string;
  readonly cells: ReadonlyMap<string, ValueRow>;
  readonly errors: readonly string[];
}

/** A list of objects whose members are plain: line items, transactions. */
export interface ValueTable {
  readonly row: ValueRow;
  readonly columns: readonly string[];
  /** Those whose values are all numbers stand at the right. */
  readonly numbers: ReadonlySet<string>;
  readonly lines: readonly TableLine[];
}

/** What is drawn one below the other. */
export type Part =
  { readonly kind: 'row'; readonly row: ValueRow } | { readonly kind: 'table'; readonly table: ValueTable };

const isGroupRow = ({ value }: ValueRow): boolean => value === undefined;

/** The objects of a list with their plain members; undefined where something else is among them. */
const linesOf = (list: ValueRow, inside: readonly ValueRow[]): readonly TableLine[] | undefined => {
  const lines: { path: string; cells: Map<string, ValueRow>; errors: readonly string[] }[] = [];
  for (const row of inside) {
    if (row.depth === list.depth + 1) {
      if (!isGroupRow(row) || row.path !== `${list.path}/${String(lines.length)}`) return undefined;
      lines.push({ path: row.path, cells: new Map(), errors: row.errors });
    } else if (isGroupRow(row) || row.depth !== list.depth + 2) return undefined;
    else lines.at(-1)?.cells.set(row.name, row);
  }
  return lines.length === 0 ? undefined : lines;
};

const isNumber = ({ value }: ValueRow): boolean => value == null || /^-?\d+(?:\.\d+)?$/.test(value);

const tableOf = (row: ValueRow, inside: readonly ValueRow[]): ValueTable | undefined => {
  const lines = linesOf(row, inside);
  if (lines === undefined) return undefined;
  const columns = [...new Set(lines.flatMap(({ cells }) => [...cells.keys()]))];
  const numbers = columns.filter((name) =>
    lines.every(({ cells }) => {
      const cell = cells.get(name);
      return cell === undefined || isNumber(cell);
    }),
  );
  return columns.length === 0 ? undefined : { row, columns, numbers: new Set(numbers), lines };
};

/** Lists of objects as tables, all else line by line, in the order in which they stand. */
export const partsOf = (rows: readonly ValueRow[]): readonly Part[] => {
  const parts: Part[] = [];
  for (let at = 0; at < rows.length; at += 1) {
    const row = rows[at];
    if (row === undefined) continue;
    let end = at + 1;
    // looked at only where a list begins: else each group would walk all that is below it
    if (isGroupRow(row) && rows[end]?.path === `${row.path}/0`)
      while (rows[end]?.path.startsWith(`${row.path}/`) === true) end += 1;
    const table = tableOf(row, rows.slice(at + 1, end));
    parts.push(table === undefined ? { kind: 'row', row } : { kind: 'table', table });
    if (table !== undefined) at = end - 1;
  }
  return parts;
};
