import { table } from '../engine/table.ts';

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
