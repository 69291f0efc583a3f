import { bigintOf, onlyRow, textOrNull } from '../apply/columns.ts';
import type { SqlTx } from '../ports.ts';
import type { Projector } from '../projector.ts';
import type { Generation } from '../registry.ts';
import { sqlTypeOf, type Table } from '../table.ts';

/**
 * A table whose new rows are not as many as the old ones were at the same position, or whose `column`
 * adds up to something else.
 */
export interface TableDifference {
  readonly table: string;
  /** Left out where the count of rows differs. */
  readonly column?: string;
  readonly before: bigint;
  readonly after: bigint;
}

const wholeColumns = ({ columns }: Table): readonly string[] =>
  Object.entries(columns).flatMap(([name, column]) => (sqlTypeOf(column) === 'int8' ? [name] : []));

/** The count of rows under an empty name, and the sum of each int8 column under its own. */
const totals = async (
  tx: SqlTx,
  table: string,
  { schema, columns }: { readonly schema: string; readonly columns: readonly string[] },
): Promise<ReadonlyMap<string, bigint>> => {
  const sums = columns.map((column, at) => `, sum("${column}")::text as s${String(at)}`).join('');
  const row = onlyRow(await tx.query(`select count(*) as n${sums} from ${schema}.${table}`));
  const found = new Map([['', bigintOf(row, 'n')]]);
  for (const [at, column] of columns.entries())
    found.set(column, BigInt(textOrNull(row, `s${String(at)}`) ?? '0'));
  return found;
};

/** What differs between two generations of one version at one position: counts of rows, sums of int8. */
export const differencesOf = async (
  tx: SqlTx,
  { tables }: Projector,
  [before, after]: readonly [Generation, Generation],
): Promise<readonly TableDifference[]> => {
  const differences: TableDifference[] = [];
  for (const one of tables) {
    const [table, columns] = [one.name, wholeColumns(one)];
    const old = await totals(tx, table, { schema: before.schema, columns });
    const fresh = await totals(tx, table, { schema: after.schema, columns });
    for (const [column, value] of fresh) {
      const was = old.get(column) ?? 0n;
      if (was === value) continue;
      differences.push({ table, ...(column !== '' && { column }), before: was, after: value });
    }
  }
  return differences;
};
