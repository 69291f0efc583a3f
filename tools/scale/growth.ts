import type { Coefficients } from './simulation/coefficients.ts';

/** What grows with history, at so many events. */
export interface HistoryGrowth {
  readonly events: number;
  readonly logBytes: number;
  readonly tableBytes: number;
  readonly indexBytes: number;
  readonly rebuildSeconds: number;
  readonly auditSeconds: number;
  readonly auditBytes: number;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Bytes of all read models for one event, of the mix that was measured. */
export const readModelBytes = ({ read_models: { tables, events } }: Coefficients) => ({
  table: sum(tables.map(({ table_bytes }) => table_bytes)) / events,
  index: sum(tables.map(({ index_bytes }) => index_bytes)) / events,
});

export const historyAt = (coefficients: Coefficients, events: number): HistoryGrowth => {
  const { log, read_models } = coefficients;
  const { table, index } = readModelBytes(coefficients);
  return {
    events,
    logBytes: events * log.bytes_per_event,
    tableBytes: events * table,
    indexBytes: events * index,
    rebuildSeconds: events / read_models.rebuild_events_per_second,
    auditSeconds: events / log.audit_events_per_second,
    auditBytes: ((events * log.streams) / log.events) * log.audit_bytes_per_stream,
  };
};

/** What grows with tenants that are active at one time. */
export interface TenantGrowth {
  readonly tenants: number;
  /** Accounts that one replica keeps, and bytes of them with two open holds each. */
  readonly warmAccounts: number;
  readonly warmBytes: number;
  readonly keyBytes: number;
  /** Replicas that keep all of them in memory, where tenants stick. */
  readonly replicasToKeepAll: number;
}

/** As `writerDefaults.ts` and `authenticate.ts` have them. */
const WARM_MAX = 10_000;
const KEYS_MAX = 10_000;
const HOLDS_EACH = 2;

export const tenantsAt = ({ memory }: Coefficients, tenants: number): TenantGrowth => {
  const warmAccounts = Math.min(tenants, WARM_MAX);
  return {
    tenants,
    warmAccounts,
    warmBytes: warmAccounts * (memory.warm_account + HOLDS_EACH * memory.open_hold),
    keyBytes: Math.min(tenants, KEYS_MAX) * memory.cached_key,
    replicasToKeepAll: Math.ceil(tenants / WARM_MAX),
  };
};

/** Milliseconds to bring in an account of so many events since its snapshot, or without one. */
export const coldLoadMs = ({ writer }: Coefficients, events: number): number => events * writer.fold_event_ms;
