import { randomUUID } from 'node:crypto';
import { witnessFromJson, type WitnessText, witnessToJson } from '../domain/kernel/witness.ts';
import type {
  AnsweredLog,
  ReplayAnswer,
  ReplayBegin,
  ReplayLease,
  ReplayScope,
  ReplayStore,
  Replica,
  ReplicaFacts,
  Replicas,
  UsedOnce,
} from '../domain/ports/services.ts';
import type { Sql, SqlRow, SqlValue } from '../projections/engine/ports.ts';

/**
 * Run once at start. A row without `status` is a request in progress; `expires_at_ms` ends its lease. `stands_on` has
 * the events of the log that an answer stands on, as JSON: `[]` for none. An answer of a release that did not note
 * them has no text there, and counts as long as it is kept.
 */
export const REPLAY_STORE_DDL = `
create schema if not exists http_cache;
create table if not exists http_cache.replays (
  tenant_id text not null,
  endpoint text not null,
  idempotency_key text not null,
  fingerprint text not null,
  owner text not null,
  expires_at_ms bigint not null,
  status integer,
  body text,
  primary key (tenant_id, endpoint, idempotency_key)
);
alter table http_cache.replays add column if not exists stands_on text;
create index if not exists replays_expiry on http_cache.replays (expires_at_ms);
`;

/**
 * Takes out of the files of an embedded database what was deleted from the kept answers, whose keys callers choose: the
 * table is written anew, and what was written ahead goes with a checkpoint. Each is a statement of its own.
 */
export const SCRUB: readonly string[] = [
  'vacuum full http_cache.replays',
  'set wal_recycle = off',
  'select pg_switch_wal()',
  'checkpoint',
  'reset wal_recycle',
];

/**
 * Frees what a process that is gone left in progress. Only for a store that this process alone uses: in a
 * shared one, leases tell who still lives.
 */
export const ABANDON_ALL = 'delete from http_cache.replays where status is null';

/** One statement, so two processes never both start: the row is ours if it was absent or expired. */
const START = `
  insert into http_cache.replays
    (tenant_id, endpoint, idempotency_key, fingerprint, owner, expires_at_ms)
  values ($1, $2, $3, $4, $5, $6)
  on conflict (tenant_id, endpoint, idempotency_key) do update
    set fingerprint = excluded.fingerprint, owner = excluded.owner,
        expires_at_ms = excluded.expires_at_ms, status = null, body = null, stands_on = null
    where http_cache.replays.expires_at_ms <= $7
  returning owner`;

const FIND_REPLAY = `
  select fingerprint, owner, status, body, stands_on, expires_at_ms from http_cache.replays
  where tenant_id = $1 and endpoint = $2 and idempotency_key = $3`;

const MINE = `tenant_id = $1 and endpoint = $2 and idempotency_key = $3 and owner = $4 and status is null`;
const RENEW = `update http_cache.replays set expires_at_ms = $5 where ${MINE} returning owner`;
const COMPLETE = `
  update http_cache.replays set status = $5, body = $6, expires_at_ms = $7, stands_on = $8
  where ${MINE} returning owner`;
const ABANDON = `delete from http_cache.replays where ${MINE}`;
/** An answer that no longer counts; not one that another request has begun in its place. */
const FORGET_REPLAY = `
  delete from http_cache.replays
  where tenant_id = $1 and endpoint = $2 and idempotency_key = $3 and owner = $4 and status is not null`;
const FORGET_TENANT = 'delete from http_cache.replays where tenant_id = $1 and status is not null';
const PURGE_REPLAYS = `delete from http_cache.replays where expires_at_ms <= $1 returning 1 as one`;

const BEGIN_ATTEMPTS_MAX = 3;

const keyOf = ({ tenant_id, endpoint, idempotency_key }: ReplayScope): readonly SqlValue[] => [
  tenant_id,
  endpoint,
  idempotency_key,
];

const ownOf = ({ scope, owner }: ReplayLease): readonly SqlValue[] => [...keyOf(scope), owner];

/** Whether the log has what an answer stands on. */
const stands = async (log: AnsweredLog, text: unknown): Promise<boolean> => {
  const events = typeof text === 'string' ? (JSON.parse(text) as readonly WitnessText[]) : [];
  for (const event of events) if (!(await log.has(witnessFromJson(event)))) return false;
  return true;
};

/** The replay store on Postgres, real or embedded. `nowMs` is the wall clock. */
export const replayStore = (sql: Sql, nowMs: () => number, log: AnsweredLog): ReplayStore => {
  /** undefined: the key is free. */
  const found = async (scope: ReplayScope, fingerprint: string): Promise<ReplayBegin | undefined> => {
    const [row] = await sql.query(FIND_REPLAY, keyOf(scope));
    if (row === undefined) return undefined;
    const { owner, status, body, stands_on } = row;
    const isAnswered = typeof status === 'number' && typeof body === 'string';
    if (isAnswered && !(await stands(log, stands_on))) {
      await sql.query(FORGET_REPLAY, [...keyOf(scope), owner as string]);
      return undefined;
    }
    if (row['fingerprint'] !== fingerprint) return { kind: 'reused' };
    if (isAnswered) return { kind: 'replay', status, body };
    return { kind: 'in_progress', left_ms: Math.max(0, Number(row['expires_at_ms']) - nowMs()) };
  };

  const begin = async (scope: ReplayScope, fingerprint: string, leaseMs: number): Promise<ReplayBegin> => {
    for (let attempt = 1; attempt <= BEGIN_ATTEMPTS_MAX; attempt += 1) {
      const owner = randomUUID();
      const now = nowMs();
      const values = [...keyOf(scope), fingerprint, owner, BigInt(now + leaseMs), BigInt(now)];
      const started = await sql.query(START, values);
      if (started.length > 0) return { kind: 'started', lease: { scope, owner, losses: log.losses() } };
      const earlier = await found(scope, fingerprint);
      if (earlier !== undefined) return earlier;
    }
    return { kind: 'in_progress', left_ms: 0 };
  };

  const abandon = async (lease: ReplayLease): Promise<void> => {
    await sql.query(ABANDON, ownOf(lease));
  };

  const changed = async (text: string, values: readonly SqlValue[]): Promise<boolean> =>
    (await sql.query(text, values)).length > 0;

  return {
    begin,
    renew: (lease, leaseMs) => changed(RENEW, [...ownOf(lease), BigInt(nowMs() + leaseMs)]),
    complete: async (lease, { status, body, keepMs }: ReplayAnswer) => {
      // What it wrote may be among that, and what is known now of another log.
      if (lease.losses !== log.losses()) {
        await abandon(lease);
        return false;
      }
      const known = JSON.stringify(log.known().map(witnessToJson));
      return changed(COMPLETE, [...ownOf(lease), status, body, BigInt(nowMs() + keepMs), known]);
    },
    abandon,
    forget: async (tenantId) => {
      await sql.query(FORGET_TENANT, [tenantId]);
    },
    purge: async () => (await sql.query(PURGE_REPLAYS, [BigInt(nowMs())])).length,
  };
};

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

/** Run once at start. */
export const USED_ONCE_DDL = `
create schema if not exists http_cache;
create table if not exists http_cache.used_once (
  word text primary key,
  expires_at_ms bigint not null
);
create index if not exists used_once_expiry on http_cache.used_once (expires_at_ms);
`;

/** Made with the tables, once: a new database has another one. Run once at start. */
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
