import type { ApiDeps } from '../../apiDeps.ts';
import { defineRoute } from '../../defineRoute.ts';
import { settleReads } from '../../reads/settledReads.ts';
import { checkKnown } from '../../money/tenantBalance.ts';
import { tenantParams } from '../../wire/basics.ts';
import { apiKeyList } from '../../wire/keys.ts';

export const listApiKeys = ({ queries, reads, keys }: ApiDeps) =>
  defineRoute({
    method: 'get',
    path: '/v1/api-keys/{tenant_id}',
    operationId: 'listApiKeys',
    summary: "List a tenant's keys",
    tag: 'API keys',
    access: 'admin',
    tenant: 'path',
    bucket: 'general',
    params: tenantParams,
    reply: { status: 200, schema: apiKeyList },
    problems: ['tenant_not_found'],
    handle: async (request) => {
      const { tenant_id } = request.params;
      await settleReads(reads, request, tenant_id);
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
