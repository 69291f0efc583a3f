import { z } from 'zod';
import { usdOfPico } from '../../../../domain/modelPrices.ts';
import { get } from '../../defineRoute.ts';
import { fromBoundary, toBoundary } from '../../wire/basics.ts';
import { subsidyResponse } from '../../wire/prices/costs.ts';

export const getFreeTierSubsidy = get('/v1/admin/free-tier-subsidy', {
  summary: 'What models cost the platform for free pages, by day',
  description: 'An operation with free and paid pages counts with the share of its free pages.',
  access: 'admin',
  query: z.object({ from_date: fromBoundary.optional(), to_date: toBoundary.optional() }),
  reply: { status: 200, schema: subsidyResponse },
  reads: 'all',
  handle: async (request, { queries, logId }) => {
    const { from_date, to_date } = request.query;
    const days = await queries.freeTierSubsidy({ from: from_date, to: to_date });
    return {
      log_id: logId(),
      from_date: from_date ?? null,
      to_date: to_date ?? null,
      items: days.map(({ cost_pico, ...day }) => ({ ...day, llm_cost_usd: usdOfPico(cost_pico) })),
      totals: {
        operations: days.reduce((sum, { operations }) => sum + operations, 0),
        pages: days.reduce((sum, { pages }) => sum + pages, 0),
        llm_cost_usd: usdOfPico(days.reduce((sum, { cost_pico }) => sum + cost_pico, 0n)),
      },
    };
  },
});
