import { type Projector, table, textOf, wholeOrNull } from './engine/table.ts';
import { inserting } from './engine/bulk.ts';
import { only, type ProjectedEvent, type ProjectedEventOf, type SqlRow, type SqlTx } from './engine/ports.ts';
import type { OwnBucket, RateLimitOverride } from '../domain/rateLimits.ts';

/** One row for each tenant that has limits of its own; null inherits the default. */
export const rateLimits = table({
  name: 'rate_limits',
  key: ['tenant_id'],
  columns: {
    tenant_id: 'sorted',
    heavy_rate: 'int4?',
    heavy_burst: 'int4?',
    general_rate: 'int4?',
    general_burst: 'int4?',
    updated_at: 'text',
    updated_by: 'text',
  },
});

const put = inserting(rateLimits);

/** The last event of each tenant in the batch: it says all. */
const lastByTenant = (events: readonly ProjectedEvent[]) => {
  const all = only(events, 'RateLimitsOverridden', 'RateLimitsReset');
  return [...new Map(all.map((event) => [event.data.tenant_id, event])).values()];
};

const rowOf = ({ data }: ProjectedEventOf<'RateLimitsOverridden'>) => ({
  tenant_id: data.tenant_id,
  heavy_rate: data.heavy?.rate_per_second ?? null,
  heavy_burst: data.heavy?.burst ?? null,
  general_rate: data.general?.rate_per_second ?? null,
  general_burst: data.general?.burst ?? null,
  updated_at: data.updated_at,
  updated_by: data.updated_by,
});

/** Tenants' own rate limits. */
export const rateLimitsProjector: Projector = {
  name: 'rate_limits',
  version: 1,
  eventTypes: ['RateLimitsOverridden', 'RateLimitsReset'],
  tables: [rateLimits],
  apply: async (tx, { schema, events }) => {
    const last = lastByTenant(events);
    const tenants = last.map(({ data }) => data.tenant_id);
    await tx.query(`delete from ${schema}.rate_limits where tenant_id = any($1::text[])`, [tenants]);
    await put(tx, schema, only(last, 'RateLimitsOverridden').map(rowOf));
  },
};

const bucketOf = (row: SqlRow, name: 'heavy' | 'general'): OwnBucket | null => {
  const [rate_per_second, burst] = [wholeOrNull(row, `${name}_rate`), wholeOrNull(row, `${name}_burst`)];
  return rate_per_second === null || burst === null ? null : { rate_per_second, burst };
};

/** Tenants' own limits; those with the defaults are not in the map. */
export const rateLimitsOfTenants =
  (sql: SqlTx) =>
  async (tenantIds: readonly string[]): Promise<ReadonlyMap<string, RateLimitOverride>> => {
    const rows = await sql.query('select * from read.rate_limits where tenant_id = any($1::text[])', [
      tenantIds,
    ]);
    return new Map(
      rows.map((row) => [
        textOf(row, 'tenant_id'),
        {
          heavy: bucketOf(row, 'heavy'),
          general: bucketOf(row, 'general'),
          updated_at: textOf(row, 'updated_at'),
          updated_by: textOf(row, 'updated_by'),
        },
      ]),
    );
  };
