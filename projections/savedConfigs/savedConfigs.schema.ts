import { table } from '../engine/table.ts';

/**
 * Saved configs that were not revoked, each by its latest version. `latest` is JSON text, not jsonb: its members
 * stay in the order in which they were published.
 */
export const savedConfigs = table({
  name: 'saved_configs',
  key: ['config_id'],
  columns: {
    config_id: 'sorted',
    tenant_id: 'sorted',
    position: 'position replace',
    version: 'int4 replace',
    latest: 'text replace',
  },
  indexes: ['(tenant_id, position desc)'],
});
