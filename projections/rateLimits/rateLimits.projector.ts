import { bulk } from '../engine/apply/bulk.ts';
import type { ProjectedEvent } from '../engine/feed/event.ts';
import { only } from '../engine/feed/event.ts';
import type { Projector } from '../engine/projector.ts';
import { rateLimitsDdl, rateLimitsTables } from './rateLimits.schema.ts';

const overrides = bulk({
  tenant_id: 'text',
  heavy_rate: 'int4',
  heavy_burst: 'int4',
  general_rate: 'int4',
  general_burst: 'int4',
  updated_at: 'text',
  updated_by: 'text',
});
const tenants = bulk({ tenant_id: 'text' });

const CLEAR = (schema: string) => `
  delete from ${schema}.rate_limits r using ${tenants.source()} where r.tenant_id = u.tenant_id`;

const PUT = (schema: string) => `
  insert into ${schema}.rate_limits (${overrides.names}) select ${overrides.names} from ${overrides.source()}`;

/** The last event of each tenant in the batch: it says all. */
const lastByTenant = (events: readonly ProjectedEvent[]) => {
  const all = only(events, 'RateLimitsOverridden', 'RateLimitsReset');
  return [...new Map(all.map((event) => [event.data.tenant_id, event])).values()];
};

/** Tenants' own rate limits. */
export const rateLimitsProjector: Projector = {
  name: 'rate_limits',
  version: 1,
  eventTypes: ['RateLimitsOverridden', 'RateLimitsReset'],
  tables: rateLimitsTables,
  ddl: rateLimitsDdl,
  apply: async (tx, { schema, events }) => {
    const last = lastByTenant(events);
    await tx.query(CLEAR(schema), tenants.values(last.map(({ data }) => ({ tenant_id: data.tenant_id }))));
    const rows = only(last, 'RateLimitsOverridden').map(({ data }) => ({
      tenant_id: data.tenant_id,
      heavy_rate: data.heavy?.rate_per_second ?? null,
      heavy_burst: data.heavy?.burst ?? null,
      general_rate: data.general?.rate_per_second ?? null,
      general_burst: data.general?.burst ?? null,
      updated_at: data.updated_at,
      updated_by: data.updated_by,
    }));
    if (rows.length > 0) await tx.query(PUT(schema), overrides.values(rows));
  },
};
