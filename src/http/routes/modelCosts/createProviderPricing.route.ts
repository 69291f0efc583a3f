import { post } from '../../defineRoute.ts';
import { checkNotAhead } from '../../doneOrProblem.ts';
import { currentPrices, pricesWithNulls, providerPriceItem } from '../../../queries/modelPrices.ts';
import { ALL_TENANTS } from '../../../queries/readYourWrites.ts';
import { providerPricingItem, providerPricingRequest } from '../../wire/prices/costs.ts';

export const createProviderPricing = post('/v1/admin/provider-pricing', {
  summary: "Publish a provider's price for a model",
  description:
    'Append-only: a correction is a further price. The first price of a model also covers the calls before it.',
  access: 'admin',
  body: providerPricingRequest,
  reply: { status: 201, schema: providerPricingItem },
  problems: ['busy'],
  handle: async ({ body, meta, doneOr }, { reference, reads, clock }) => {
    const price_id = clock.newId('ppr');
    const { provider, model_name } = body;
    const effective_from = body.effective_from ?? meta.now;
    checkNotAhead(effective_from, meta.now, 'effective_from');
    const data = { price_id, provider, model_name, ...pricesWithNulls(body), effective_from };
    const { state, position } = doneOr(
      await reference.publishModelPrice({ type: 'PublishProviderPrice', data, meta }),
      {},
    );
    reads.note(ALL_TENANTS, position);
    const current = currentPrices(state.prices, meta.now);
    return providerPriceItem({ ...data, created_at: meta.now }, current);
  },
});
