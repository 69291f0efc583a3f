import { z } from 'zod';
import type { ApiDeps } from '../../apiDeps.ts';
import { defineRoute } from '../../defineRoute.ts';
import { settleReads } from '../../reads/settledReads.ts';
import { checkKnown } from '../../money/tenantBalance.ts';
import { pagingQuery, tenantParams } from '../../wire/basics.ts';
import { grantHistory } from '../../wire/money.ts';

export const listGrants = ({ queries, reads }: ApiDeps) =>
  defineRoute({
    method: 'get',
    path: '/v1/billing/grants/{tenant_id}',
    operationId: 'listGrants',
    summary: "A tenant's purchases and refunds, newest first",
    tag: 'Billing',
    access: 'any',
    tenant: 'path',
    bucket: 'general',
    params: tenantParams,
    query: z.object(pagingQuery),
    reply: { status: 200, schema: grantHistory },
    problems: ['tenant_not_found'],
    handle: async (request) => {
      const { limit, offset } = request.query;
      const { tenant_id } = request.params;
      await settleReads(reads, request, tenant_id);
      const { items, total } = await queries.grantsOfTenant({ tenant_id, limit, offset });
      await checkKnown({ queries }, tenant_id, { isEmpty: total === 0 });
      return { items: [...items], total, limit, offset };
    },
  });
