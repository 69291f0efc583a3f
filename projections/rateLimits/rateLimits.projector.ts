import { inserting } from '../engine/apply/bulk.ts';
import type { ProjectedEvent, ProjectedEventOf } from '../engine/feed/event.ts';
import { only } from '../engine/feed/event.ts';
import type { Projector } from '../engine/projector.ts';
import { rateLimits } from './rateLimits.schema.ts';

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
