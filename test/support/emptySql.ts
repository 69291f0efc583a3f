import { pgliteSql } from '../../adapters/pglite/sql.ts';
import type { Sql, SqlLock } from '../../projections/engine/ports.ts';
import { untilProcessEnds } from './processEnd.ts';

const DROP_ALL = `
  do $$
  declare
    one text;
  begin
    for one in select nspname from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema' loop
      execute format('drop schema %I cascade', one);
    end loop;
  end $$;
  create schema public;`;

/**
 * Makes the session forget its prepared statements, as it does when one of them finds other columns than it was
 * prepared for: those of the suite before would stand in the way of tables of the same name.
 */
const forgetStatements = async (sql: Sql): Promise<void> => {
  const look = () => sql.query('select * from public.probe where $1::int is null', [1]);
  await sql.script('create table public.probe (one int)');
  await look();
  await sql.script('alter table public.probe add column two int');
  await look();
  await sql.script('drop table public.probe');
};

let database: Promise<Sql> | undefined;
let isLent = false;

const openDatabase = async (): Promise<Sql> => {
  const { sql } = await pgliteSql(null);
  untilProcessEnds(() => sql.close());
  return sql;
};

/** The database until `close`, which leaves it empty and without locks. */
const lent = (sql: Sql): Sql => {
  const locks = new Set<SqlLock>();
  let closing: Promise<void> | undefined;
  const giveBack = async () => {
    await Promise.all([...locks].map((lock) => lock.release()));
    await sql.script(DROP_ALL);
    await forgetStatements(sql);
    isLent = false;
  };
  return {
    ...sql,
    tryLock: async (key) => {
      const lock = await sql.tryLock(key);
      if (lock !== undefined) locks.add(lock);
      return lock;
    },
    close: () => (closing ??= giveBack()),
  };
};

/**
 * An empty embedded Postgres in memory. One serves all suites of a process, one after another: starting it takes
 * a second, emptying it a few milliseconds. A suite that asks while another holds it gets one of its own.
 */
export const emptySql = async (): Promise<Sql> => {
  if (isLent) return (await pgliteSql(null)).sql;
  isLent = true;
  return lent(await (database ??= openDatabase()));
};
