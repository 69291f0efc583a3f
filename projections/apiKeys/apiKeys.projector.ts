import { actorIn } from '../../domain/kernel/event.ts';
import { inserting, updating } from '../engine/apply/bulk.ts';
import { only } from '../engine/feed/event.ts';
import type { Projector } from '../engine/projector.ts';
import { omit } from '../engine/table.ts';
import { apiKeys } from './apiKeys.schema.ts';

const issue = inserting(apiKeys, {
  columns: omit(apiKeys.columns, 'replaced_by', 'rotated_at', 'revoked_at'),
});
const rotate = updating(apiKeys, 'key_id', 'replaced_by', 'expires_at', 'rotated_at');
const revoke = updating(apiKeys, 'key_id', 'revoked_at');

/** The last event of each key: one statement must not meet a row twice. */
const lastByKey = <Data extends { readonly key_id: string }>(events: readonly { readonly data: Data }[]) => [
  ...new Map(events.map(({ data }) => [data.key_id, data])).values(),
];

/** API keys: who may act for whom. */
export const apiKeysProjector: Projector = {
  name: 'api_keys',
  version: 2,
  eventTypes: ['ApiKeyIssued', 'ApiKeyRotated', 'ApiKeyRevoked'],
  tables: [apiKeys],
  apply: async (tx, { schema, events }) => {
    const issued = only(events, 'ApiKeyIssued').map(({ data, position, metadata }) => ({
      ...data,
      position,
      made_by: actorIn(metadata),
    }));
    await issue(tx, schema, issued);
    await rotate(tx, schema, lastByKey(only(events, 'ApiKeyRotated')));
    await revoke(tx, schema, lastByKey(only(events, 'ApiKeyRevoked')));
  },
};
