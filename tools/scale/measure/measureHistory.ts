import Database from 'libsql';
import { openSqliteEventLog } from '../../../adapters/sqlite/eventLog.ts';
import { systemTimers } from '../../../adapters/local/local.ts';
import { postgresSql } from '../../../adapters/postgres.ts';
import { decodeAny } from '../../../domain/catalogue.ts';
import type { Sql } from '../../../projections/engine/ports.ts';
import { prepareReadModels } from '../../../projections/engine/registry.ts';
import { projectionRunner } from '../../../projections/engine/runner.ts';
import { READ_MODELS } from '../../../projections/readModels.ts';
import { runAudit } from '../../../src/audit/runAudit.ts';
import { EMPTY_DATABASE } from '../../bench/live.ts';
import type { Coefficients, TableSize } from '../simulation/coefficients.ts';
import { heldBytes, processCpuMs, round, threadCpuOf, threadTimes } from './probes.ts';

type Rows = readonly Readonly<Record<string, unknown>>[];

const queried = (path: string, sql: string): Rows => {
  const database = new Database(path);
  const rows = database.prepare(sql).all() as Rows;
  database.close();
  return rows;
};

const BY_TYPE = `select type, count(*) as count, avg(length(data)) as data, avg(length(metadata)) as metadata
  from events group by type order by count desc`;
const SIZES = `select sum(pgsize) as bytes, sum(case when name = 'events' then 0 else pgsize end) as indexes
  from dbstat`;

/** What must hold of a made-up log; it publishes no billing config, so burns cannot follow from one. */
const SOUND: ReadonlySet<string> = new Set(['chain', 'order', 'schema', 'balance', 'available', 'hold']);

/** Bytes of the log, by type and in all, and how fast an audit reads it. */
export const measureLog = async (path: string): Promise<Coefficients['log']> => {
  const [sizes] = queried(path, SIZES);
  const [counted] = queried(path, 'select count(*) as n, count(distinct stream) as streams from events');
  const [events, streams] = [Number(counted?.['n']), Number(counted?.['streams'])];
  const types = queried(path, BY_TYPE).map(({ type, count, data, metadata }) => [
    String(type),
    { count: Number(count), data: Math.round(Number(data)), metadata: Math.round(Number(metadata)) },
  ]);
  const feed = openSqliteEventLog({ path, readOnly: true });
  const before = heldBytes();
  let held = 0;
  const onProgress = (done: number) => {
    if (done > 0.9 * events && held === 0) held = ((heldBytes() - before) / done) * events;
  };
  const audit = await threadCpuOf(() => runAudit({ feed, dense: true, onProgress }));
  const { report } = audit.value;
  await feed.close();
  const wrong = report.checks.find(({ check, findings }) => SOUND.has(check) && findings > 0);
  if (wrong !== undefined) throw new Error(`the audit of the trading log: not ${wrong.about}`);
  return {
    bytes_per_event: Math.round(Number(sizes?.['bytes']) / events),
    index_share: round(Number(sizes?.['indexes']) / Number(sizes?.['bytes'])),
    events,
    streams,
    by_type: Object.fromEntries(types) as Coefficients['log']['by_type'],
    audit_events_per_second: Math.round((events / audit.ms) * 1000),
    audit_bytes_per_stream: Math.round(held / streams),
  };
};

const TABLES = `select c.relname::text as table_name, n.nspname::text as schema_name,
    pg_table_size(c.oid)::text as table_bytes, pg_indexes_size(c.oid)::text as index_bytes
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'r' and n.nspname in (select schema_name from projections.registry where serves)
  order by pg_total_relation_size(c.oid) desc`;

const tableSizes = async (sql: Sql): Promise<readonly TableSize[]> => {
  const sizes: TableSize[] = [];
  for (const { table_name, schema_name, ...bytes } of await sql.query(TABLES)) {
    const [row] = await sql.query(
      `select count(*)::text as n from ${String(schema_name)}.${String(table_name)}`,
    );
    sizes.push({
      table: String(table_name),
      rows: Number(row?.['n']),
      table_bytes: Number(bytes['table_bytes']),
      index_bytes: Number(bytes['index_bytes']),
    });
  }
  return sizes;
};

interface Followed {
  readonly batches: number;
  readonly events: number;
  /** Processor time of this process's thread, and of the database's processes. */
  readonly cpuMs: number;
  readonly databaseMs: number;
}

/** Processor time of the sessions of a database on this machine. */
const databaseCpuMs = async (sql: Sql): Promise<number> => {
  const rows = await sql.query(
    `select pid::text as pid from pg_stat_activity where backend_type = 'client backend' and pid is not null`,
  );
  return rows.reduce((sum, { pid }) => sum + processCpuMs(Number(pid)), 0);
};

/** The real runner on an empty database, with batches of that size, until it has so many events. */
const follow = async (
  sql: Sql,
  path: string,
  { batchMax, until }: { readonly batchMax: number; readonly until: number },
): Promise<Followed> => {
  await sql.script(EMPTY_DATABASE);
  await prepareReadModels(sql, READ_MODELS);
  const feed = openSqliteEventLog({ path, readOnly: true });
  let [batches, events] = [0, 0];
  const cpuBefore = threadTimes().cpuMs;
  const databaseBefore = await databaseCpuMs(sql);
  await new Promise<void>((resolve, reject) => {
    const runner = projectionRunner({
      ...{ sql, feed, projectors: READ_MODELS, decode: decodeAny, timers: systemTimers },
      tuning: { batchMax },
      notify: (notice) => {
        if (notice.kind === 'stopped' || notice.kind === 'failed') reject(new Error(notice.reason));
        if (notice.kind !== 'batch') return;
        batches += 1;
        events += notice.events;
        if (events >= until && events - notice.events < until) void runner.stop().then(resolve, reject);
      },
    });
    runner.start();
  });
  const cpuMs = threadTimes().cpuMs - cpuBefore;
  const databaseMs = (await databaseCpuMs(sql)) - databaseBefore;
  await feed.close();
  return { batches, events, cpuMs, databaseMs };
};

/**
 * Costs of a batch and of an event, and the sizes of all tables once the log is projected.
 */
export const measureProjections = async (
  databaseUrl: string,
  path: string,
  log: { readonly events: number; readonly tenants: number },
): Promise<Pick<Coefficients, 'projector' | 'read_models'>> => {
  const sql = postgresSql({ url: databaseUrl });
  const small = await follow(sql, path, { batchMax: 5, until: 4_000 });
  const large = await follow(sql, path, { batchMax: 1_000, until: log.events });
  const tables = await tableSizes(sql);
  await sql.close();
  const fitted = (of: (run: Followed) => number) => {
    const [each, batch] = [of(large) / large.events, of(small) / small.batches];
    return { each: round(each), batch: round(Math.max(0, batch - each * (small.events / small.batches))) };
  };
  const process = fitted(({ cpuMs }) => cpuMs);
  const database = fitted(({ databaseMs }) => databaseMs);
  return {
    projector: {
      batch_ms: process.batch,
      event_ms: process.each,
      database_batch_ms: database.batch,
      database_event_ms: database.each,
    },
    read_models: {
      events: log.events,
      tenants: log.tenants,
      rebuild_events_per_second: Math.round(1000 / (process.each + database.each)),
      tables,
    },
  };
};
