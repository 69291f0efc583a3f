import { post } from '../../defineRoute.ts';
import { priceNamed } from '../../../../domain/modelPrices.ts';
import { pricesWithNulls, pricingAnswer } from '../../../queries/modelPrices.ts';
import { ALL_TENANTS } from '../../../queries/readYourWrites.ts';
import { pricingRequest, pricingResponse } from '../../wire/prices/costs.ts';

export const setPricing = post('/v1/pricing', {
  summary: 'Set the price of a model',
  description:
    '`model_name` may be `<provider>/<model>`. It prices calls of models whose provider has no published price.',
  access: 'admin_or_service',
  body: pricingRequest,
  reply: { status: 200, schema: pricingResponse },
  problems: ['busy'],
  handle: async ({ body, meta, doneOr }, { reference, reads, clock }) => {
    const { model_name } = body;
    const data = { price_id: clock.newId('ppr'), model_name, ...pricesWithNulls(body) };
    const { state, position } = doneOr(
      await reference.publishModelPrice({ type: 'SetModelPrice', data, meta }),
      {},
    );
    reads.note(ALL_TENANTS, position);
    const price = priceNamed(state.prices, model_name, meta.now);
    if (price === undefined) throw new Error('a price that was set is not known');
    return pricingAnswer(model_name, price);
  },
});
