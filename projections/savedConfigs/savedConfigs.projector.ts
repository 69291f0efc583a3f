import { upserting } from '../engine/apply/bulk.ts';
import { only, type ProjectedEventOf } from '../engine/feed/event.ts';
import type { Projector } from '../engine/projector.ts';
import { savedConfigs } from './savedConfigs.schema.ts';

const keep = upserting(savedConfigs);

const rowOf = ({ data, position }: ProjectedEventOf<'ConfigPublished'>) => ({
  config_id: data.config_id,
  tenant_id: data.tenant_id,
  position,
  version: data.version,
  latest: JSON.stringify(data),
});

/** Saved configs by their latest version; a revoked one has no row. */
export const savedConfigsProjector: Projector = {
  name: 'saved_configs',
  version: 1,
  eventTypes: ['ConfigPublished', 'ConfigRevoked'],
  tables: [savedConfigs],
  apply: async (tx, { schema, events }) => {
    const published = only(events, 'ConfigPublished').map(rowOf);
    // The last version of each: one statement must not meet a row twice.
    await keep(tx, schema, [...new Map(published.map((row) => [row.config_id, row])).values()]);
    // Nothing follows a revocation, so its row is gone for good.
    const revoked = only(events, 'ConfigRevoked').map(({ data }) => data.config_id);
    if (revoked.length > 0)
      await tx.query(`delete from ${schema}.saved_configs where config_id = any($1::text[])`, [revoked]);
  },
};
