import { z } from 'zod';
import { decimalOut, instantOut, knownCurrencyIn, plainText } from '../basics.ts';

const rate = z
  .string()
  .regex(/^\d{1,18}(\.\d{1,18})?$/, 'A decimal as text, with a point.')
  .refine((text) => /[1-9]/.test(text), { error: 'Must be above 0.' })
  .meta({ description: 'Units of the currency for 1 `base`, decimal text.' });

/** More than there are currencies. */
const RATES_MAX = 400;

/** Looked at before each is: a body may have fifty thousand members. */
const fewRates = (value: unknown, { issues }: z.core.ParsePayload): unknown => {
  if (typeof value !== 'object' || value === null || Object.keys(value).length <= RATES_MAX) return value;
  const message = `At most ${String(RATES_MAX)} rates.`;
  issues.push({ code: 'custom', message, input: value, continue: false });
  return z.NEVER;
};

const EARLIEST_DAY = '1999-01-01';

export const publishFxRatesRequest = z
  .strictObject({
    date: z.iso
      .date()
      .refine((date) => date >= EARLIEST_DAY, { error: 'Lies before 1999-01-01.' })
      .meta({ description: 'From 1999-01-01, when the euro began, to one day ahead.' }),
    base: knownCurrencyIn.default('EUR'),
    rates: z.preprocess(
      fewRates,
      z
        .record(knownCurrencyIn, rate)
        .refine((rates) => Object.keys(rates).length > 0, { error: 'At least one rate.' }),
    ),
    source: plainText(1, 100).default('admin'),
  })
  .refine(({ base, rates }) => !(base in rates), {
    error: 'The base has no rate to itself.',
    path: ['rates'],
  })
  .meta({ id: 'PublishFxRatesRequest' });

export const fxRatesResponse = z
  .strictObject({
    date: z.iso.date(),
    base: z.string(),
    rates: z.record(z.string(), decimalOut),
    source: z.string(),
    published: z.boolean().meta({ description: 'False when the same rates were known already.' }),
    published_at: instantOut.nullable(),
  })
  .meta({ id: 'FxRatesResponse' });

export const fxRateResponse = z
  .strictObject({
    base: z.string(),
    quote: z.string(),
    rate: decimalOut.meta({ description: 'Units of `quote` for 1 `base`, exact decimal text.' }),
    rate_date: z.iso.date().meta({ description: 'The day that the rate is of.' }),
    requested_date: z.iso.date(),
    source: z.string(),
  })
  .meta({ id: 'FxRateResponse' });
