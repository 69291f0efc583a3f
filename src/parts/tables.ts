import {
  ABANDON_ALL,
  EPOCH_DDL,
  FORGET_ALL,
  REPLAY_STORE_DDL,
  REPLICAS_DDL,
  USED_ONCE_DDL,
} from '../../adapters/sqlTables.ts';
import type { Sql, SqlTx } from '../../projections/engine/ports.ts';
import { prepareReadModels } from '../../projections/engine/registry.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import type { Config } from '../config.ts';

const TABLES_LOCK = 0x7461626cn;

/** Tables beside the read models, each with a column that only its present form has, and what makes it. */
const TABLES = [
  { name: 'http_cache.replays', column: 'stands_on', ddl: REPLAY_STORE_DDL },
  { name: 'http_cache.used_once', column: null, ddl: USED_ONCE_DDL },
  { name: 'http_cache.epoch', column: null, ddl: EPOCH_DDL },
  { name: 'http_cache.replicas', column: null, ddl: REPLICAS_DDL },
] as const;

const IS_MISSING = `
select to_regclass($1) is null or ($2::text is not null and not exists (
  select 1 from pg_attribute where attrelid = to_regclass($1) and attname = $2 and not attisdropped
)) as missing`;

/**
 * Where earlier releases kept snapshots of accounts; nothing reads it any more. Only that table, recognised by
 * its columns, and only if this process's role owns it.
 */
const FORMER_SNAPSHOTS = `
select pg_has_role(c.relowner, 'usage') as own
from pg_class c
where c.oid = to_regclass('public.snapshots') and (
  select array_agg(a.attname::text order by a.attnum) from pg_attribute a
  where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
) = array['stream', 'reducer_version', 'revision', 'hash', 'state', 'state_hash']`;

const dropFormer = async (sql: Sql): Promise<void> => {
  const [former] = await sql.query(FORMER_SNAPSHOTS);
  if (former?.['own'] === true) await sql.script('drop table if exists public.snapshots');
};

const missingIn = async (sql: SqlTx): Promise<readonly string[]> => {
  const found = await Promise.all(
    TABLES.map(async ({ name, column, ddl }) => {
      const [row] = await sql.query(IS_MISSING, [name, column]);
      return row?.['missing'] === true ? [ddl] : [];
    }),
  );
  return found.flat();
};

/**
 * Makes the tables that are missing. `create … if not exists` alone fails when two processes start at once
 * on an empty database, so they take turns; and where nothing is missing, nothing is asked of the database
 * role but to read.
 */
const prepareShared = async (sql: Sql): Promise<void> => {
  if ((await missingIn(sql)).length === 0) return;
  await sql.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1)', [TABLES_LOCK]);
    // A session remembers which names it did not find; opening a catalog tells it what others have made.
    await tx.query('select count(*) as schemas from pg_catalog.pg_namespace');
    for (const ddl of await missingIn(tx)) await tx.script(ddl);
  });
};

/**
 * Makes what a start finds missing; any number of processes may do so at once. A store of answers that is
 * embedded is this process's own: what an earlier one left in progress is freed, its heartbeat too.
 */
export const prepareTables = async (
  { databaseUrl }: Pick<Config, 'databaseUrl'>,
  sql: Sql,
): Promise<void> => {
  await prepareShared(sql);
  await dropFormer(sql);
  if (databaseUrl === undefined) await sql.script(`${ABANDON_ALL}; ${FORGET_ALL}`);
  await prepareReadModels(sql, READ_MODELS);
};
