import { z } from 'zod';
import { get } from '../../defineRoute.ts';
import { checkKnown } from '../../reads/knownTenant.ts';
import { fromBoundary, pagingQuery, plainText, tenantParams, toBoundary } from '../../wire/basics.ts';
import { tenantLedger } from '../../wire/books.ts';

export const listTenantLedger = get('/v1/admin/tenants/{tenant_id}/ledger', {
  summary: "A tenant's postings of all kinds, newest first",
  description: '`balance_after` of the newest row is the balance.',
  access: 'admin',
  tenant: 'path',
  params: tenantParams,
  query: z.object({
    ...pagingQuery,
    from_date: fromBoundary.optional(),
    to_date: toBoundary.optional(),
    operation: plainText(1, 64).optional(),
  }),
  reply: { status: 200, schema: tenantLedger },
  problems: ['tenant_not_found'],
  reads: 'tenant',
  handle: async (request, { queries }) => {
    const { limit, offset, from_date, to_date, operation } = request.query;
    const { tenant_id } = request.params;
    const page = { tenant_id, limit, offset, from: from_date, to: to_date, operation };
    const { items, total } = await queries.ledgerOfTenant(page);
    await checkKnown({ queries }, tenant_id, { isEmpty: total === 0 });
    return { items: [...items], total, limit, offset };
  },
});
