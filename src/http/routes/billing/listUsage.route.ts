import { z } from 'zod';
import type { ApiDeps } from '../../apiDeps.ts';
import { defineRoute } from '../../defineRoute.ts';
import { settleReads } from '../../reads/settledReads.ts';
import { checkKnown } from '../../money/tenantBalance.ts';
import { booleanText, fromBoundary, pagingQuery, tenantParams, toBoundary } from '../../wire/basics.ts';
import { usageHistory } from '../../wire/reports.ts';

export const listUsage = ({ queries, reads }: ApiDeps) =>
  defineRoute({
    method: 'get',
    path: '/v1/billing/usage/{tenant_id}',
    operationId: 'listUsage',
    summary: "A tenant's usage, newest first",
    description: 'Adjustments only with `include_adjustments`; purchases are in the grants.',
    tag: 'Billing',
    access: 'any',
    tenant: 'path',
    bucket: 'general',
    params: tenantParams,
    query: z.object({
      ...pagingQuery,
      start: fromBoundary.optional(),
      end: toBoundary.optional(),
      include_adjustments: booleanText.default(false),
    }),
    reply: { status: 200, schema: usageHistory },
    problems: ['tenant_not_found'],
    handle: async (request) => {
      const { limit, offset, start, end, include_adjustments } = request.query;
      const { tenant_id } = request.params;
      await settleReads(reads, request, tenant_id);
      const found = await queries.usageOfTenant({
        ...{ tenant_id, limit, offset, include_adjustments },
        from: start,
        to: end,
      });
      await checkKnown({ queries }, tenant_id, { isEmpty: found.total === 0 });
      const items = found.items.map((item) => ({
        ...item,
        kind: item.kind === 'usage' ? ('usage' as const) : ('admin_adjustment' as const),
      }));
      return { items, total: found.total, limit, offset };
    },
  });
