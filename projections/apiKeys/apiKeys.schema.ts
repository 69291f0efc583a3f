import { table } from '../engine/table.ts';

/** Every API key ever issued, by hash and display characters only. */
export const apiKeys = table({
  name: 'api_keys',
  key: ['key_id'],
  columns: {
    key_id: 'sorted',
    key_hash: 'sorted',
    tenant_id: 'sorted',
    position: 'position',
    prefix: 'text',
    last4: 'text',
    role: 'text',
    name: 'text?',
    /** Who made it, as events name them: the ID of a key, `oidc:<sub>`, or a part of the service. */
    made_by: 'text?',
    replaces: 'text?',
    replaced_by: 'text?',
    created_at: 'text',
    expires_at: 'text?',
    rotated_at: 'text?',
    revoked_at: 'text?',
  },
  unique: ['key_hash'],
  indexes: ['(tenant_id, position desc)', '(made_by)', '(role) where revoked_at is null'],
});
