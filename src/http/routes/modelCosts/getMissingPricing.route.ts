import { z } from 'zod';
import type { ApiDeps } from '../../apiDeps.ts';
import { defineRoute } from '../../defineRoute.ts';
import { settleAllReads } from '../../reads/settledReads.ts';
import { wholeNumberText } from '../../wire/basics.ts';
import { missingPricingResponse } from '../../wire/costs.ts';

const DAY_MS = 86_400_000;

export const getMissingPricing = ({ queries, reads }: ApiDeps) =>
  defineRoute({
    method: 'get',
    path: '/v1/admin/llm/missing-pricing',
    operationId: 'getMissingPricing',
    summary: 'Models that were called and have no provider price',
    description: 'Also those whose calls reported their own cost.',
    tag: 'Model costs',
    access: 'admin',
    bucket: 'general',
    query: z.object({ days: wholeNumberText(1, 365).default(30) }),
    reply: { status: 200, schema: missingPricingResponse },
    problems: [],
    handle: async (request) => {
      const { days } = request.query;
      await settleAllReads(reads, request);
      const since = new Date(Date.parse(request.meta.now) - days * DAY_MS).toISOString();
      return { days, items: [...(await queries.missingPrices(since))] };
    },
  });
