import type { UsedOnce } from '../../domain/ports/usedOnce.ts';
import type { Sql } from '../../projections/engine/ports.ts';

/** Run once at start. */
export const USED_ONCE_DDL = `
create schema if not exists http_cache;
create table if not exists http_cache.used_once (
  word text primary key,
  expires_at_ms bigint not null
);
create index if not exists used_once_expiry on http_cache.used_once (expires_at_ms);
`;

/** Made with the tables, once: a database that was made anew has another one. Run once at start. */
export const EPOCH_DDL = `
create schema if not exists http_cache;
create table if not exists http_cache.epoch (
  is_one boolean primary key default true check (is_one),
  epoch uuid not null default gen_random_uuid()
);
insert into http_cache.epoch default values on conflict do nothing;
`;

/** Embedded Postgres, and a server may, answers before a commit is written: a crash would bring the word back. */
const DURABLY = 'set local synchronous_commit = on';
const USE = `
  insert into http_cache.used_once (word, expires_at_ms) values ($1, $2)
  on conflict (word) do nothing returning word`;
const FIND_USE = 'select 1 as one from http_cache.used_once where word = $1';
const EPOCH = 'select epoch::text as epoch from http_cache.epoch';
const PURGE_USES = 'delete from http_cache.used_once where expires_at_ms <= $1 returning 1 as one';

/** On Postgres, real or embedded: what one process was told, all processes of the database know at once. */
export const usedOnce = (sql: Sql, nowMs: () => number): UsedOnce => ({
  use: (word, untilMs) =>
    sql.transaction(async (tx) => {
      await tx.query(DURABLY);
      return (await tx.query(USE, [word, BigInt(untilMs)])).length > 0;
    }),
  isUsed: async (word) => (await sql.query(FIND_USE, [word])).length > 0,
  epoch: async () => String((await sql.query(EPOCH))[0]?.['epoch']),
  purge: async () => (await sql.query(PURGE_USES, [BigInt(nowMs())])).length,
});
