import { get } from '../../defineRoute.ts';
import { checkKnown } from '../../reads/knownTenant.ts';
import { tenantParams } from '../../wire/basics.ts';
import { apiKeyList, apiKeysQuery } from '../../wire/keys.ts';

export const listApiKeys = get('/v1/api-keys/{tenant_id}', {
  summary: "List a tenant's keys",
  description: 'What is known of each key, newest first; the keys themselves are not stored.',
  access: 'admin',
  tenantSessions: true,
  tenant: 'path',
  params: tenantParams,
  query: apiKeysQuery,
  reply: { status: 200, schema: apiKeyList },
  problems: ['tenant_not_found'],
  reads: 'tenant',
  handle: async (request, { queries, keys }) => {
    const { tenant_id } = request.params;
    const { limit, offset } = request.query;
    const { items, total } = await queries.apiKeysOfTenant({ tenant_id, limit, offset });
    await checkKnown({ queries }, tenant_id, { isEmpty: total === 0 });
    return {
      ...{ tenant_id, total, limit, offset },
      items: items.map(
        ({ key_id, prefix, last4, role, name, created_at, expires_at, revoked_at, made_by }) => ({
          ...{ key_id, prefix, last4, role, name, created_at, expires_at, revoked_at, made_by },
          last_used_at: keys.lastUsedAt(key_id),
        }),
      ),
    };
  },
});
