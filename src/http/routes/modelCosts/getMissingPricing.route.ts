import { z } from 'zod';
import { get } from '../../defineRoute.ts';
import { wholeNumberText } from '../../wire/basics.ts';
import { missingPricingResponse } from '../../wire/prices/costs.ts';

const DAY_MS = 86_400_000;

export const getMissingPricing = get('/v1/admin/llm/missing-pricing', {
  summary: 'Models that were called and have no provider price',
  description: 'Also those whose calls reported their own cost.',
  access: 'admin',
  query: z.object({ days: wholeNumberText(1, 365).default(30) }),
  reply: { status: 200, schema: missingPricingResponse },
  reads: 'all',
  handle: async (request, { queries }) => {
    const { days } = request.query;
    const since = new Date(Date.parse(request.meta.now) - days * DAY_MS).toISOString();
    return { days, items: [...(await queries.missingPrices(since))] };
  },
});
