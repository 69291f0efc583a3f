import type { Replica, ReplicaFacts, Replicas } from '../../domain/ports/replicas.ts';
import type { Sql, SqlRow } from '../../projections/engine/ports.ts';

/** Run once at start. */
export const REPLICAS_DDL = `
create schema if not exists http_cache;
create table if not exists http_cache.replicas (
  replica_id text primary key,
  version text not null,
  roles text not null,
  started_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp()
);
`;

/** Only for a database that one process alone uses: of those before it none is alive. */
export const FORGET_ALL = 'delete from http_cache.replicas';

const BEAT = `
  insert into http_cache.replicas (replica_id, version, roles) values ($1, $2, $3)
  on conflict (replica_id) do update
    set version = excluded.version, roles = excluded.roles, seen_at = clock_timestamp()`;
const LEAVE = 'delete from http_cache.replicas where replica_id = $1';
const FORGET_REPLICA = `delete from http_cache.replicas where seen_at < clock_timestamp() - interval '1 hour'`;

const utc = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as ${column}`;
const ALIVE = `
  select replica_id, version, roles, ${utc('started_at')}, ${utc('seen_at')}
  from http_cache.replicas where seen_at >= clock_timestamp() - interval '60 seconds'
  order by http_cache.replicas.started_at, replica_id`;

const replicaOf = (row: SqlRow): Replica => ({
  replica_id: String(row['replica_id']),
  version: String(row['version']),
  roles: String(row['roles']).split(','),
  started_at: String(row['started_at']),
  seen_at: String(row['seen_at']),
});

/** On Postgres, real or embedded: the processes of one database. */
export const replicas = (sql: Sql): Replicas => ({
  beat: async ({ replica_id, version, roles }: ReplicaFacts) => {
    await sql.query(BEAT, [replica_id, version, roles.join(',')]);
    await sql.query(FORGET_REPLICA);
  },
  leave: async (replicaId) => {
    await sql.query(LEAVE, [replicaId]);
  },
  alive: async () => (await sql.query(ALIVE)).map(replicaOf),
});
