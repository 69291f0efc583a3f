import { get } from '../../defineRoute.ts';
import { currentPrices, providerPriceItem } from '../../../queries/modelPrices.ts';
import { providerPricingList } from '../../wire/prices/costs.ts';

export const listProviderPricing = get('/v1/admin/provider-pricing', {
  summary: 'Prices of models, current and historical, newest first',
  description: '`current` has the price in force of each provider and model; `history` has all.',
  access: 'admin',
  reply: { status: 200, schema: providerPricingList },
  reads: 'all',
  handle: async (request, { queries }) => {
    const prices = await queries.providerPrices();
    const current = currentPrices([...prices].reverse(), request.meta.now);
    const history = prices.map((price) => providerPriceItem(price, current));
    return { current: history.filter((item) => item.current), history };
  },
});
