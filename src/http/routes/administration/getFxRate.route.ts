import { z } from 'zod';
import { fxRateOn } from '../../../../domain/fxRates.ts';
import { get } from '../../defineRoute.ts';
import { problem } from '../../problems.ts';
import { knownCurrencyIn } from '../../wire/basics.ts';
import { fxRateResponse } from '../../wire/prices/fx.ts';

export const getFxRate = get('/v1/admin/fx-rate', {
  summary: 'The exchange rate from one currency to another on a day',
  description:
    'Without a rate of that day (weekends, holidays, days to come), the last one known ' +
    'before it: see `rate_date`. Rates between two other currencies are crossed through EUR.',
  access: 'admin',
  query: z.object({
    base: knownCurrencyIn.default('EUR'),
    quote: knownCurrencyIn.default('USD'),
    on: z.iso.date().optional(),
  }),
  reply: { status: 200, schema: fxRateResponse },
  problems: ['fx_rate_not_found'],
  handle: async ({ query: { base, quote, on } }, { reference, clock }) => {
    const requested_date = on ?? clock.now().slice(0, 10);
    const found = fxRateOn(await reference.fxRates(), { base, quote }, requested_date);
    if (found === undefined)
      throw problem(
        'fx_rate_not_found',
        `No rate from ${base} to ${quote} is known on or before ${requested_date}.`,
      );
    return { base, quote, ...found, requested_date };
  },
});
