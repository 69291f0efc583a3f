import { get } from '../../defineRoute.ts';
import { checkKnown } from '../../reads/knownTenant.ts';
import { tenantParams } from '../../wire/basics.ts';
import { apiKeyList } from '../../wire/keys.ts';

export const listApiKeys = get('/v1/api-keys/{tenant_id}', {
  summary: "List a tenant's keys",
  description: 'What is known of each key; the keys themselves are not stored.',
  access: 'admin',
  tenantSessions: true,
  tenant: 'path',
  params: tenantParams,
  reply: { status: 200, schema: apiKeyList },
  problems: ['tenant_not_found'],
  reads: 'tenant',
  handle: async (request, { queries, keys }) => {
    const { tenant_id } = request.params;
    const items = await queries.apiKeysOfTenant(tenant_id);
    await checkKnown({ queries }, tenant_id, { isEmpty: items.length === 0 });
    return {
      tenant_id,
      items: items.map(({ key_id, prefix, last4, role, name, created_at, expires_at, revoked_at }) => ({
        ...{ key_id, prefix, last4, role, name, created_at, expires_at, revoked_at },
        last_used_at: keys.lastUsedAt(key_id),
      })),
    };
  },
});
