import { z } from 'zod';
import { plan } from '../../../domain/account/messages.ts';
import {
  creditsOut,
  currencyIn,
  decimalOut,
  occurredIn,
  instantOut,
  minorIn,
  minorOut,
  pageOf,
  plainText,
  tenantIdText,
} from './basics.ts';

const provider = plainText(1, 100);
const transaction = plainText(1, 255).meta({
  description: 'With the provider the identity of this payment, unique for ever and across tenants.',
});

const creditsAboveZero = z.int().min(1);

export const addCreditsRequest = z
  .strictObject({
    tenant_id: tenantIdText,
    provider: provider.default('manual'),
    provider_txn_id: transaction,
    credits: creditsAboveZero.nullish().meta({ description: 'As shown at checkout; derived when left out.' }),
    currency: currencyIn.default('USD'),
    gross_amount_minor: minorIn.nullish(),
    vat_amount_minor: minorIn.default(0),
    provider_fee_minor: minorIn.default(0),
    price_list_version: z.int().min(1).nullish(),
    occurred_at: occurredIn.nullish(),
    invoice_ref: plainText(1, 255).nullish(),
    note: plainText(1, 1000).nullish(),
  })
  .superRefine(({ credits, gross_amount_minor: gross, ...sale }, context) => {
    const issue = (member: string, message: string) =>
      context.addIssue({ code: 'custom', path: [member], message });
    if ((credits ?? null) === null && (gross ?? null) === null)
      issue('credits', 'Either credits or gross_amount_minor is required.');
    if (gross === 0) issue('gross_amount_minor', 'Credits given for nothing are an adjustment.');
    if (sale.vat_amount_minor > (gross ?? 0)) issue('vat_amount_minor', 'More than the gross amount.');
    if (sale.provider_fee_minor > (gross ?? 0)) issue('provider_fee_minor', 'More than the gross amount.');
  })
  .meta({ id: 'AddCreditsRequest' });

export const addCreditsResponse = z
  .strictObject({
    grant_id: z.string(),
    tenant_id: z.string(),
    credits: creditsOut,
    currency: z.string(),
    gross_amount_minor: minorOut.nullable(),
    vat_amount_minor: minorOut,
    net_amount_minor: minorOut.nullable(),
    provider_fee_minor: minorOut,
    provider: z.string(),
    provider_txn_id: z.string(),
    price_list_version: z.int(),
    fx_rate_to_usd: decimalOut.nullable(),
    fx_rate_date: z.iso.date().nullable(),
    balance_credits: creditsOut,
    credited: z.boolean().meta({ description: 'False for a retry: the original is answered.' }),
    occurred_at: instantOut,
    created_at: instantOut,
  })
  .meta({ id: 'AddCreditsResponse' });

export const refundRequest = z
  .strictObject({
    tenant_id: tenantIdText,
    provider: provider.default('manual'),
    provider_txn_id: transaction,
    original_provider_txn_id: transaction,
    original_provider: provider.nullish().meta({ description: 'Default: `provider`.' }),
    credits: z.int().min(0).nullish(),
    currency: currencyIn.nullish(),
    gross_amount_minor: minorIn.nullish(),
    vat_amount_minor: minorIn.nullish().meta({ description: 'Left out: in proportion.' }),
    provider_fee_minor: minorIn.default(0).meta({ description: 'Fee given back.' }),
    occurred_at: occurredIn.nullish(),
    reason: plainText(1, 500).nullish(),
  })
  .superRefine(({ credits, gross_amount_minor: gross, ...refund }, context) => {
    if ((credits ?? 0) === 0 && (gross ?? 0) === 0)
      context.addIssue({ code: 'custom', path: ['credits'], message: 'Credits or money are required.' });
    for (const member of ['vat_amount_minor', 'provider_fee_minor'] as const)
      if ((refund[member] ?? 0) > (gross ?? 0))
        context.addIssue({ code: 'custom', path: [member], message: 'More than the gross amount.' });
  })
  .meta({ id: 'RefundRequest' });

export const refundResponse = z
  .strictObject({
    refund_id: z.string(),
    grant_id: z.string(),
    tenant_id: z.string(),
    credits: creditsOut,
    currency: z.string(),
    gross_amount_minor: minorOut,
    vat_amount_minor: minorOut,
    provider_fee_minor: minorOut,
    provider: z.string(),
    provider_txn_id: z.string(),
    balance_credits: creditsOut,
    refundable_credits: creditsOut,
    refundable_amount_minor: minorOut.nullable(),
    credited: z.boolean(),
    created_at: instantOut,
  })
  .meta({ id: 'RefundResponse' });

export const adjustRequest = z
  .strictObject({
    credits: z
      .int()
      .refine((credits) => credits !== 0, { error: 'Must not be 0.' })
      .meta({ description: 'Above 0 gives, below 0 claws back.' }),
    reason: plainText(1, 500),
    allow_negative: z.boolean().default(false),
  })
  .meta({ id: 'AdminCreditAdjustRequest' });

export const adjustResponse = z
  .strictObject({
    adjustment_id: z.string(),
    tenant_id: z.string(),
    credits: creditsOut,
    reason: z.string(),
    balance_credits: creditsOut,
    credited: z.boolean(),
    created_at: instantOut,
  })
  .meta({ id: 'AdminCreditAdjustResponse' });

export const setPlanRequest = z
  .strictObject({ plan, reason: plainText(1, 500).nullish() })
  .meta({ id: 'AdminSetPlanRequest' });

export const setPlanResponse = z
  .strictObject({
    tenant_id: z.string(),
    plan,
    previous_plan: plan,
    changed: z.boolean(),
    set_at: instantOut,
  })
  .meta({ id: 'AdminSetPlanResponse' });

const grantItem = z
  .strictObject({
    grant_id: z.string(),
    kind: z.enum(['sale', 'refund']),
    credits: creditsOut,
    original_grant_id: z.string().nullable(),
    refunded_credits: creditsOut,
    refunded_amount_minor: minorOut,
    currency: z.string(),
    gross_amount_minor: minorOut.nullable(),
    vat_amount_minor: minorOut,
    provider_fee_minor: minorOut,
    net_amount_minor: minorOut.nullable(),
    price_list_version: z.int().nullable(),
    fx_rate_to_usd: decimalOut.nullable(),
    provider: z.string(),
    provider_txn_id: z.string(),
    invoice_ref: z.string().nullable(),
    occurred_at: instantOut,
    created_at: instantOut,
  })
  .meta({ id: 'GrantItem' });

export const grantHistory = pageOf(grantItem, 'GrantHistoryResponse');
