import { z } from 'zod';
import { event } from '../kernel/event.ts';
import { currencyCode, day, decimalText, instant } from '../kernel/units.ts';

/** Rates of one day: 1 `base` = rate units of each currency. The same day again is a correction. */
const fxRatesPublished = event('FxRatesPublished', {
  date: day,
  base: currencyCode,
  rates: z.record(currencyCode, decimalText),
  source: z.string(),
  published_at: instant,
});

export const fxRatesEvent = z.discriminatedUnion('type', [fxRatesPublished]);
export type FxRatesEvent = z.output<typeof fxRatesEvent>;

/** The one stream of exchange rates. */
export const FX_RATES_STREAM = 'fxRates';
