import { z } from 'zod';
import { priceNamed } from '../../../../domain/modelPrices.ts';
import { get } from '../../defineRoute.ts';
import { pricingAnswer } from '../../../queries/modelPrices.ts';
import { problem } from '../../problems.ts';
import { plainText } from '../../wire/basics.ts';
import { pricingResponse } from '../../wire/prices/costs.ts';

export const getPricing = get('/v1/pricing/{model_name}', {
  rest: 'model_name',
  summary: 'The price of a model',
  description: '`<provider>/<model>` or the bare name; the slash may be encoded or not.',
  access: 'any',
  params: z.object({ model_name: plainText(1, 300) }),
  reply: { status: 200, schema: pricingResponse },
  problems: ['model_pricing_not_found'],
  handle: async ({ params: { model_name }, meta }, { reference }) => {
    const price = priceNamed((await reference.modelPrices()).prices, model_name, meta.now);
    if (price === undefined) throw problem('model_pricing_not_found', 'This model has no known price.');
    return pricingAnswer(model_name, price);
  },
});
