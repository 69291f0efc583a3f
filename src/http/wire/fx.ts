import { z } from 'zod';
import { decimalOut, instantOut, knownCurrencyIn, plainText } from './basics.ts';

const rate = z
  .string()
  .regex(/^\d{1,18}(\.\d{1,18})?$/, 'A decimal as text, with a point.')
  .refine((text) => /[1-9]/.test(text), { error: 'Must be above 0.' })
  .meta({ description: 'Units of the currency for 1 `base`, decimal text.' });

const EARLIEST_DAY = '1999-01-01';

export const publishFxRatesRequest = z
  .strictObject({
    date: z.iso
      .date()
      .refine((date) => date >= EARLIEST_DAY, { error: 'Lies before 1999-01-01.' })
      .meta({ description: 'From 1999-01-01, when the euro began, to one day ahead.' }),
    base: knownCurrencyIn.default('EUR'),
    rates: z
      .record(knownCurrencyIn, rate)
      .refine((rates) => Object.keys(rates).length > 0, { error: 'At least one rate.' }),
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
