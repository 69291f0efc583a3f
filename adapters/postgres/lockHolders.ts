import type { LockHolders, SqlTx } from '../../projections/engine/ports.ts';

/** Sessions that hold an advisory lock with a key of 64 bits, which Postgres shows in two halves. */
const HOLDERS = `
  select a.pid, a.application_name, a.pid::text || ' since ' || a.backend_start::text as holder
  from pg_locks l join pg_stat_activity a on a.pid = l.pid
  where l.locktype = 'advisory' and l.granted and l.objsubid = 1
    and l.database = (select oid from pg_database where datname = current_database())
    and (l.classid::int8 << 32) | l.objid::int8 = $1`;

/**
 * The frozen process may have stopped in the middle of a batch: its open transaction keeps rows locked,
 * and would keep them from whoever takes over.
 */
const END = `
  with holding as (${HOLDERS})
  select pg_terminate_backend(a.pid) as ended
  from holding h join pg_stat_activity a
    on a.pid = h.pid or (a.application_name = h.application_name and a.datname = current_database()
      and a.state like 'idle in transaction%' and a.state_change < now() - interval '5 seconds')
  where h.holder = $2`;

/** Sees and ends sessions of the same database role. */
export const lockHolders = (sql: Pick<SqlTx, 'query'>): LockHolders => ({
  of: async (key) => {
    const [row] = await sql.query(HOLDERS, [key]);
    return row === undefined ? undefined : String(row['holder']);
  },
  end: async (key, holder) => {
    const rows = await sql.query(END, [key, holder]);
    return rows.some(({ ended }) => ended === true);
  },
});
