import { flagOf, textOf } from '../apply/columns.ts';
import type { Sql, SqlTx } from '../ports.ts';
import { generationOf, retire, type Generation } from '../registry.ts';

const DROP_LOCK = 0x64726f70n;

const dropOne = (sql: Sql, schema: string): Promise<void> =>
  sql.transaction(async (tx) => {
    const [row] = await tx.query('select pg_try_advisory_xact_lock($1) as got', [DROP_LOCK]);
    if (row !== undefined && flagOf(row, 'got')) await tx.script(`drop schema if exists ${schema} cascade`);
  });

/**
 * Drops the tables of generations that nothing reads any more. While another process is at it, it leaves
 * them to that one: two drops of one schema would fail each other.
 */
export const dropRetired = async (sql: Sql): Promise<void> => {
  const rows = await sql.query(
    `select schema_name from projections.registry
     where state = 'retired' and to_regnamespace(schema_name) is not null`,
  );
  for (const row of rows) await dropOne(sql, textOf(row, 'schema_name'));
};

/** Half-built generations of newer versions whose checkpoints have been still for this long. */
export const leftBehind = async (
  sql: SqlTx,
  name: string,
  version: number,
): Promise<readonly Generation[]> => {
  const rows = await sql.query(
    `select * from projections.registry
     where name = $1 and version > $2 and not serves and state in ('building', 'stopped')
       and updated_at < to_char(now() at time zone 'utc' - interval '1 hour', 'YYYY-MM-DD"T"HH24:MI:SS')`,
    [name, version],
  );
  return rows.map(generationOf);
};

/** Retires a generation that will not be finished. */
export const abandon = (sql: SqlTx, { name, generation }: Generation): Promise<void> =>
  retire(sql, 'name = $1 and generation = $2 and not serves', [name, generation]);
