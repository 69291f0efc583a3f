import { z } from 'zod';
import { billingType, extractionMode, taxBasis } from '../../../../domain/account/messages.ts';
import { creditsOut, decimalOut, instantOut, knownCurrencyIn, plainText } from '../basics.ts';

const price = z
  .string()
  .regex(/^\d{1,12}(\.\d{1,6})?$/, 'A decimal with up to 6 decimals.')
  .refine((text) => /[1-9]/.test(text), { error: 'Must be above 0.' })
  .meta({ description: 'Price of 1,000 credits in major units, decimal text.' });

export const publishPriceListRequest = z
  .strictObject({
    entries: z
      .array(
        z.strictObject({
          currency: knownCurrencyIn,
          price_per_1000_credits: price,
          tax_basis: taxBasis.default('exclusive'),
        }),
      )
      .min(1)
      .max(200)
      .refine((entries) => new Set(entries.map(({ currency }) => currency)).size === entries.length, {
        error: 'Each currency once.',
      })
      .meta({ description: 'The complete set: a currency that is left out is retired.' }),
    expected_version: z.int().min(0).nullish(),
    note: plainText(1, 1000).nullish(),
  })
  .meta({ id: 'PublishPriceListRequest' });

export const priceListResponse = z
  .strictObject({
    version: z.int(),
    entries: z.array(
      z.strictObject({
        currency: z.string(),
        price_per_1000_credits: decimalOut,
        tax_basis: taxBasis,
        minor_unit_digits: z.int(),
      }),
    ),
    published_at: instantOut,
    published_by: z.string(),
    note: z.string().nullable(),
  })
  .meta({ id: 'CreditPriceListResponse' });

const ratedOperation = z.enum(['extract', 'to_markdown']);
const creditsFromZeroIn = z.int().min(0);

export const upsertRateRequest = z
  .strictObject({
    operation: ratedOperation,
    extraction_mode: z.enum(['fast', 'standard', 'balanced', 'robust', 'default']),
    billing_type: billingType,
    credits_per_page: creditsFromZeroIn,
  })
  .meta({ id: 'UpsertRateRequest' });

export const billingRateItem = z
  .strictObject({
    operation: ratedOperation,
    extraction_mode: extractionMode,
    billing_type: billingType,
    credits_per_page: creditsOut,
    billing_config_version: z.int(),
    effective_at: instantOut,
  })
  .meta({ id: 'BillingRateItem' });

export const billingRatesResponse = z
  .strictObject({ version: z.int(), items: z.array(billingRateItem) })
  .meta({ id: 'BillingRatesResponse' });

export const billingConfigCreateRequest = z
  .strictObject({
    free_pages: z.int().min(0).optional(),
    examples_export_fee_credits: creditsFromZeroIn.optional(),
    training: z
      .strictObject({
        base_credits: z
          .strictObject({
            light: creditsFromZeroIn.optional(),
            medium: creditsFromZeroIn.optional(),
            heavy: creditsFromZeroIn.optional(),
          })
          .optional(),
        credits_per_example: creditsFromZeroIn.optional(),
        credits_per_metric_call: creditsFromZeroIn.optional(),
      })
      .optional(),
    hold_ttl_seconds: z.int().min(60).max(86_400).optional(),
    note: plainText(1, 1000).nullish(),
  })
  .meta({ id: 'BillingConfigCreateRequest', description: 'Members that are left out carry over.' });

export const billingConfigResponse = z
  .strictObject({
    version: z.int(),
    free_pages: z.int(),
    examples_export_fee_credits: creditsOut,
    training: z.strictObject({
      base_credits: z.strictObject({ light: creditsOut, medium: creditsOut, heavy: creditsOut }),
      credits_per_example: creditsOut,
      credits_per_metric_call: creditsOut,
    }),
    hold_ttl_seconds: z.int(),
    note: z.string().nullable(),
    rates: z.array(billingRateItem),
    created_at: instantOut,
    created_by: z.string(),
  })
  .meta({ id: 'BillingConfigResponse' });

export const billingConfigHistory = z
  .strictObject({ active: billingConfigResponse, history: z.array(billingConfigResponse) })
  .meta({ id: 'AdminBillingConfigHistoryResponse' });
