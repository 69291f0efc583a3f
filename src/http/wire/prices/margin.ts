import { z } from 'zod';
import { creditsOut, instantOut, minorOut, logIdOut } from '../basics.ts';

const usd = z
  .string()
  .regex(/^-?\d+\.\d{6}$/)
  .meta({ description: 'US dollars as decimal text with 6 decimals.' });
const percent = z
  .string()
  .regex(/^-?\d+\.\d{2}$/)
  .nullable()
  .meta({ description: 'Of the revenue; null without revenue.' });

export const marginReportResponse = z
  .strictObject({
    log_id: logIdOut,
    start: instantOut,
    end: instantOut,
    currency: z.literal('USD'),
    credits_burned: creditsOut,
    unit_margin: z.strictObject({
      revenue_usd: usd,
      model_cost_usd: usd,
      margin_usd: usd,
      margin_percent: percent,
    }),
    realized_margin: z.strictObject({
      gross_usd: usd,
      vat_usd: usd,
      provider_fees_usd: usd,
      net_revenue_usd: usd.meta({ description: 'gross − VAT − provider fees, as recognised.' }),
      refunds_usd: usd.meta({ description: 'Recognised by refunds and clawbacks: the true-ups.' }),
      model_cost_usd: usd,
      margin_usd: usd.meta({ description: 'net revenue + refunds − model cost.' }),
      margin_percent: percent,
    }),
    fx_effect_usd: usd.meta({ description: 'Realized margin − unit margin: the gap.' }),
    gap_breakdown: z
      .strictObject({
        fx_rate_usd: usd,
        price_variance_usd: usd,
        provider_fee_usd: usd,
        promo_usd: usd,
        unpriced_usd: usd,
        refund_true_up_usd: usd,
        rounding_usd: usd,
      })
      .meta({ description: 'Sums to `fx_effect_usd` exactly.' }),
    free_tier_cost_usd: usd,
    deferred_revenue_usd: usd.meta({ description: 'Value of unconsumed credits at `end`.' }),
    by_currency: z.array(
      z
        .strictObject({
          currency: z.string(),
          sales: z.int(),
          refunds: z.int(),
          gross_amount_minor: minorOut,
          vat_amount_minor: minorOut,
          provider_fee_minor: minorOut,
          refunded_amount_minor: minorOut,
          credits_consumed: creditsOut,
          net_revenue_usd: usd,
          refund_true_up_usd: usd,
          deferred_revenue_usd: usd,
        })
        .meta({ id: 'MarginByCurrency' }),
    ),
    unpriced_calls: z.int(),
    sales_without_amount: z.int(),
    sales_without_rate: z.int(),
  })
  .meta({ id: 'MarginReportResponse' });
