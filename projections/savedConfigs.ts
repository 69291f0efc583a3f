import { type Projector, table, textOf } from './engine/table.ts';
import { upserting } from './engine/bulk.ts';
import { only, type ProjectedEventOf, type SqlRow } from './engine/ports.ts';
import { type ConfigVersion, savedConfigEvent } from '../domain/savedConfig.ts';
import { type Page, paging } from './engine/query.ts';
import { sortsBy } from './engine/sorts.ts';

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
    // Nothing follows a revocation, so its row is deleted.
    const revoked = only(events, 'ConfigRevoked').map(({ data }) => data.config_id);
    if (revoked.length > 0)
      await tx.query(`delete from ${schema}.saved_configs where config_id = any($1::text[])`, [revoked]);
  },
};

interface ConfigsQuery extends Page {
  readonly tenant_id: string;
}

const latestOf = (row: SqlRow): ConfigVersion => {
  const data = JSON.parse(textOf(row, 'latest')) as unknown;
  const event = savedConfigEvent.parse({ type: 'ConfigPublished', data });
  if (event.type !== 'ConfigPublished') throw new Error('a saved config is no version');
  return event.data;
};

const memberOf = (name: string) =>
  ({ by: `(latest::jsonb->>'${name}' collate "C")`, as: 'text', isNullable: true }) as const;

/** The latest version of each config of a tenant that was not revoked, last published first. */
export const configsOfTenant = paging(
  {
    name: 'configs',
    columns: 'latest',
    chosen: 'from read.saved_configs where tenant_id = $1',
    sorts: {
      ...sortsBy(savedConfigs.columns, 'config_id', 'version'),
      mode: memberOf('mode'),
      artifact_id: memberOf('artifact_id'),
      published_at: memberOf('published_at'),
    },
    searched: {
      columns: ['config_id', "latest::jsonb->>'mode'", "latest::jsonb->>'artifact_id'"],
      written: ["latest::jsonb->>'name'"],
    },
  },
  ({ tenant_id }: ConfigsQuery) => [tenant_id],
  latestOf,
);
