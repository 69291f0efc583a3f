import { z } from 'zod';
import { get } from '../../defineRoute.ts';
import { activeConfig } from '../../../commands/reference.ts';
import { pagingQuery, plainText } from '../../wire/basics.ts';
import { tenantList } from '../../wire/books.ts';

export const listTenants = get('/v1/admin/tenants', {
  summary: 'All tenants with their balances, newest first',
  description: '`search` is part of a tenant ID, in any case.',
  access: 'admin',
  query: z.object({ ...pagingQuery, search: plainText(0, 128).optional() }),
  reply: { status: 200, schema: tenantList },
  reads: 'all',
  handle: async (request, deps) => {
    const { limit, offset, search } = request.query;
    const { free_pages: allowance } = (await activeConfig(deps.reference)).terms;
    const { items, total } = await deps.queries.tenants({ limit, offset, search });
    return {
      items: items.map((row) => ({
        tenant_id: row.tenant_id,
        plan: row.plan,
        balance_credits: row.balance_credits,
        held_credits: row.held_credits,
        total_credits_purchased: row.total_credits_purchased,
        total_credits_used: row.total_credits_used,
        free_pages_remaining: Math.max(0, allowance - row.free_pages_used - row.free_pages_held),
        created_at: row.created_at,
        last_activity_at: row.last_activity_at,
      })),
      ...{ total, limit, offset },
    };
  },
});
