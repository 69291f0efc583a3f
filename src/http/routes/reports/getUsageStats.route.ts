import { z } from 'zod';
import { totalsOf, USAGE_GROUPS } from '../../../../projections/usage.ts';
import { get } from '../../defineRoute.ts';
import { booleanText, fromBoundary, toBoundary } from '../../wire/basics.ts';
import { usageStatsResponse } from '../../wire/books.ts';

export const getUsageStats = get('/v1/admin/usage-stats', {
  summary: 'Consumption of all tenants, grouped',
  description:
    'Days are UTC, weeks ISO 8601 (`2026-W05`). With `include_adjustments` a clawback counts ' +
    'like consumption and a gift below zero. `trigger` is an old name of `category`.',
  access: 'admin',
  query: z.object({
    from_date: fromBoundary.optional(),
    to_date: toBoundary.optional(),
    group_by: z.enum([...USAGE_GROUPS, 'trigger']).default('operation'),
    include_adjustments: booleanText.default(false),
  }),
  reply: { status: 200, schema: usageStatsResponse },
  reads: 'all',
  handle: async (request, { queries, logId }) => {
    const { from_date, to_date, group_by, include_adjustments } = request.query;
    const items = await queries.usageStats({
      group_by: group_by === 'trigger' ? 'category' : group_by,
      include_adjustments,
      from: from_date,
      to: to_date,
    });
    const totals = totalsOf(items);
    return {
      log_id: logId(),
      group_by,
      from_date: from_date ?? null,
      to_date: to_date ?? null,
      items: [...items],
      totals,
    };
  },
});
