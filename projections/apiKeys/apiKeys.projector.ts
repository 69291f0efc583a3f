import { bulk } from '../engine/apply/bulk.ts';
import { only } from '../engine/feed/event.ts';
import type { Projector } from '../engine/projector.ts';
import { apiKeysDdl, apiKeysTables } from './apiKeys.schema.ts';

const issued = bulk({
  key_id: 'text',
  key_hash: 'text',
  tenant_id: 'text',
  position: 'int8',
  prefix: 'text',
  last4: 'text',
  role: 'text',
  name: 'text',
  replaces: 'text',
  created_at: 'text',
  expires_at: 'text',
});
const rotated = bulk({ key_id: 'text', replaced_by: 'text', expires_at: 'text', rotated_at: 'text' });
const revoked = bulk({ key_id: 'text', revoked_at: 'text' });

const ISSUE = (schema: string) => `
  insert into ${schema}.api_keys (${issued.names}) select ${issued.names} from ${issued.source()}`;

const ROTATE = (schema: string) => `
  update ${schema}.api_keys k
  set replaced_by = u.replaced_by, expires_at = u.expires_at, rotated_at = u.rotated_at
  from ${rotated.source()} where k.key_id = u.key_id`;

const REVOKE = (schema: string) => `
  update ${schema}.api_keys k set revoked_at = u.revoked_at
  from ${revoked.source()} where k.key_id = u.key_id`;

/** The last event of each key: one statement must not meet a row twice. */
const lastByKey = <Row extends { readonly key_id: string }>(rows: readonly Row[]): readonly Row[] => [
  ...new Map(rows.map((row) => [row.key_id, row])).values(),
];

/** API keys: who may act for whom. */
export const apiKeysProjector: Projector = {
  name: 'api_keys',
  version: 1,
  eventTypes: ['ApiKeyIssued', 'ApiKeyRotated', 'ApiKeyRevoked'],
  tables: apiKeysTables,
  ddl: apiKeysDdl,
  apply: async (tx, { schema, events }) => {
    const issues = only(events, 'ApiKeyIssued').map(({ data, position }) => ({ ...data, position }));
    const rotations = only(events, 'ApiKeyRotated').map(({ data }) => data);
    const revocations = only(events, 'ApiKeyRevoked').map(({ data }) => data);
    if (issues.length > 0) await tx.query(ISSUE(schema), issued.values(issues));
    if (rotations.length > 0) await tx.query(ROTATE(schema), rotated.values(lastByKey(rotations)));
    if (revocations.length > 0) await tx.query(REVOKE(schema), revoked.values(lastByKey(revocations)));
  },
};
