import type { ApiDeps } from '../../apiDeps.ts';
import { defineRoute } from '../../defineRoute.ts';
import { currentPrices, providerPriceItem } from '../../../queries/modelPrices.ts';
import { settleAllReads } from '../../reads/settledReads.ts';
import { providerPricingList } from '../../wire/costs.ts';

export const listProviderPricing = ({ queries, reads }: ApiDeps) =>
  defineRoute({
    method: 'get',
    path: '/v1/admin/provider-pricing',
    operationId: 'listProviderPricing',
    summary: 'Prices of models, current and historical, newest first',
    description: '`current` has the price in force of each provider and model; `history` has all.',
    tag: 'Model costs',
    access: 'admin',
    bucket: 'general',
    reply: { status: 200, schema: providerPricingList },
    problems: [],
    handle: async (request) => {
      await settleAllReads(reads, request);
      const prices = await queries.providerPrices();
      const current = currentPrices([...prices].reverse(), request.meta.now);
      const history = prices.map((price) => providerPriceItem(price, current));
      return { current: history.filter((item) => item.current), history };
    },
  });
