import { savedConfigEvent, type ConfigVersion } from '../../domain/savedConfig/events.ts';
import { textOf } from '../engine/apply/columns.ts';
import type { SqlRow } from '../engine/ports.ts';
import { paging, type Page } from '../engine/query.ts';

interface ConfigsQuery extends Page {
  readonly tenant_id: string;
}

const latestOf = (row: SqlRow): ConfigVersion => {
  const data = JSON.parse(textOf(row, 'latest')) as unknown;
  const event = savedConfigEvent.parse({ type: 'ConfigPublished', data });
  if (event.type !== 'ConfigPublished') throw new Error('a saved config is no version');
  return event.data;
};

/** The latest version of each config of a tenant that was not revoked, last published first. */
export const configsOfTenant = paging(
  { columns: 'latest', chosen: 'from read.saved_configs where tenant_id = $1', order: 'position desc' },
  ({ tenant_id }: ConfigsQuery) => [tenant_id],
  latestOf,
);
