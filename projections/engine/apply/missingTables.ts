import { textOf, wholeOf } from './columns.ts';
import type { Sql, SqlTx } from '../ports.ts';
import type { Projector } from '../projector.ts';
import { READ_SCHEMA } from '../projector.ts';
import { createGeneration, hasRegistry, lockRegistry, pointViews, retire } from '../registry.ts';

/** What queries of one read model need and is not there. */
interface MissingTables {
  readonly projector: Projector;
  readonly generation: number;
  readonly schema: string;
  /** Tables of the generation that serves; their rows are gone. */
  readonly tables: readonly string[];
  /** Views that queries read. A view goes with its table. */
  readonly views: readonly string[];
}

const MISSING = `
  select r.name, r.generation, r.schema_name, t.table_name,
    to_regclass(r.schema_name || '.' || t.table_name) is null as no_table
  from projections.registry r
  join unnest($1::text[], $2::int4[], $3::text[]) as t(name, version, table_name)
    on t.name = r.name and t.version = r.version
  where r.serves and (to_regclass(r.schema_name || '.' || t.table_name) is null
    or to_regclass('${READ_SCHEMA}.' || t.table_name) is null)
  order by r.name, t.table_name`;

/** Looked up in the catalog: nothing is read from the tables. Read models of other versions are left out. */
export const missingTables = async (
  sql: SqlTx,
  projectors: readonly Projector[],
): Promise<readonly MissingTables[]> => {
  if (!(await hasRegistry(sql))) return [];
  const tables = projectors.flatMap((projector) =>
    projector.tables.map(({ name }) => ({ projector, table: name })),
  );
  const rows = await sql.query(MISSING, [
    tables.map(({ projector }) => projector.name),
    tables.map(({ projector }) => projector.version),
    tables.map(({ table }) => table),
  ]);
  return projectors.flatMap((projector) => {
    const own = rows.filter((row) => textOf(row, 'name') === projector.name);
    const [first] = own;
    if (first === undefined) return [];
    const gone = own.filter((row) => row['no_table'] === true);
    return {
      projector,
      generation: wholeOf(first, 'generation'),
      schema: textOf(first, 'schema_name'),
      tables: gone.map((row) => textOf(row, 'table_name')),
      views: own.map((row) => textOf(row, 'table_name')),
    };
  });
};

/** Read models that were replaced, and of which no row has been written since. */
export const unfilled = async (sql: SqlTx, projectors: readonly Projector[]): Promise<readonly string[]> => {
  if (!(await hasRegistry(sql))) return [];
  const rows = await sql.query(
    `select name from projections.registry
     where serves and position is null and generation > 1 and name = any($1::text[]) order by name`,
    [projectors.map(({ name }) => name)],
  );
  return rows.map((row) => textOf(row, 'name'));
};

/**
 * Puts an empty generation in the place of one that has lost a table: the runner finds it and fills it from
 * the start of the log. A view that was dropped by itself is made again. Gives what was missing. Several
 * processes may do it at once: they take turns, and the later one finds nothing.
 */
export const replaceMissing = async (
  sql: Sql,
  projectors: readonly Projector[],
): Promise<readonly MissingTables[]> => {
  if ((await missingTables(sql, projectors)).length === 0) return [];
  return sql.transaction(async (tx) => {
    await lockRegistry(tx);
    const missing = await missingTables(tx, projectors);
    for (const one of missing) {
      if (one.tables.length === 0) await pointViews(tx, one.projector, one.schema);
      else {
        await retire(tx, 'name = $1 and generation = $2', [one.projector.name, one.generation]);
        await createGeneration(tx, one.projector, 'live');
      }
    }
    return missing;
  });
};
