import { z } from 'zod';
import { get } from '../../defineRoute.ts';
import { checkKnown } from '../../reads/knownTenant.ts';
import { booleanText, fromBoundary, pagingQuery, tenantParams, toBoundary } from '../../wire/basics.ts';
import { usageHistory } from '../../wire/reports.ts';

export const listUsage = get('/v1/billing/usage/{tenant_id}', {
  summary: "A tenant's usage, newest first",
  description: 'Adjustments only with `include_adjustments`; purchases are in the grants.',
  access: 'any',
  tenant: 'path',
  params: tenantParams,
  query: z.object({
    ...pagingQuery,
    start: fromBoundary.optional(),
    end: toBoundary.optional(),
    include_adjustments: booleanText.default(false),
  }),
  reply: { status: 200, schema: usageHistory },
  problems: ['tenant_not_found'],
  reads: 'tenant',
  handle: async (request, { queries }) => {
    const { limit, offset, start, end, include_adjustments } = request.query;
    const { tenant_id } = request.params;
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
