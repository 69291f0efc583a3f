import { z } from 'zod';
import { get } from '../../defineRoute.ts';
import { checkKnown } from '../../reads/knownTenant.ts';
import { pagingQuery, tenantParams } from '../../wire/basics.ts';
import { grantHistory } from '../../wire/money.ts';

export const listGrants = get('/v1/billing/grants/{tenant_id}', {
  summary: "A tenant's purchases and refunds, newest first",
  description: 'What was bought and what was given back, with its money.',
  access: 'any',
  tenant: 'path',
  params: tenantParams,
  query: z.object(pagingQuery),
  reply: { status: 200, schema: grantHistory },
  problems: ['tenant_not_found'],
  reads: 'tenant',
  handle: async (request, { queries }) => {
    const { limit, offset } = request.query;
    const { tenant_id } = request.params;
    const { items, total } = await queries.grantsOfTenant({ tenant_id, limit, offset });
    await checkKnown({ queries }, tenant_id, { isEmpty: total === 0 });
    return { items: [...items], total, limit, offset };
  },
});
