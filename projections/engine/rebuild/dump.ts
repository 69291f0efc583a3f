import { bigintOf, onlyRow, textOf } from '../apply/columns.ts';
import type { SqlTx } from '../ports.ts';
import type { Projector } from '../projector.ts';
import { READ_SCHEMA } from '../projector.ts';

/** One table's size and a digest of its rows in the order of their key. */
interface TableDump {
  readonly table: string;
  readonly rows: bigint;
  readonly digest: string;
}

/** Digests of all tables of a read model: equal dumps mean equal rows. By default the ones that serve. */
export const dumpReadModel = async (
  sql: SqlTx,
  { tables }: Projector,
  schema: string = READ_SCHEMA,
): Promise<readonly TableDump[]> => {
  const dumps: TableDump[] = [];
  for (const { name, key } of tables) {
    const order = key.map((column) => `to_jsonb(t.${column})::text collate "C"`).join(', ');
    const row = onlyRow(
      await sql.query(
        `select count(*) as rows, md5(coalesce(string_agg(md5(to_jsonb(t)::text), '' order by ${order}), ''))
           as digest from ${schema}.${name} t`,
      ),
    );
    dumps.push({ table: name, rows: bigintOf(row, 'rows'), digest: textOf(row, 'digest') });
  }
  return dumps;
};
