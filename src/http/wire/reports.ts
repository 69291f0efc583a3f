import { z } from 'zod';
import { plan } from '../../../domain/account/messages.ts';
import { creditsOut, instantOut, pageOf, usdOut } from './basics.ts';

const balanceMembers = {
  tenant_id: z.string(),
  balance_credits: creditsOut,
  held_credits: creditsOut,
  available_credits: creditsOut,
  total_credits_purchased: creditsOut.meta({ description: 'Net of refunds.' }),
  total_credits_used: creditsOut,
  total_credits_adjusted: creditsOut,
  free_pages_remaining: z.int(),
  plan,
  as_of: instantOut,
};

export const balanceResponse = z.strictObject(balanceMembers).meta({ id: 'BalanceResponse' });

const bucket = z
  .strictObject({ rate_per_second: z.number(), burst: z.int() })
  .meta({ id: 'RateLimitBucket' });

export const tenantInfoResponse = z
  .strictObject({
    ...balanceMembers,
    free_pages: z.strictObject({ allowance: z.int(), used: z.int(), remaining: z.int() }),
    open_holds: z.array(
      z.strictObject({
        hold_id: z.string(),
        credits: creditsOut,
        operation: z.string(),
        created_at: instantOut,
        expires_at: instantOut,
      }),
    ),
    price_list_version: z.int(),
    billing_config_version: z.int(),
    rate_limits: z.strictObject({ heavy: bucket, general: bucket }),
    grants_count: z.int(),
    created_at: instantOut,
    last_activity_at: instantOut,
  })
  .meta({ id: 'TenantInfoResponse' });

/** What every row of a tenant's books has, beside its kind. */
export const usageMembers = {
  id: z.string(),
  operation: z.string().nullable(),
  category: z.string().nullable(),
  extraction_mode: z.string().nullable(),
  billing_type: z.string().nullable(),
  pages: z.int(),
  free_pages: z.int(),
  credits_per_page: creditsOut.nullable(),
  credits_delta: creditsOut,
  total_cost_usd: usdOut,
  balance_after: creditsOut,
  billing_config_version: z.int().nullable(),
  project_id: z.string().nullable(),
  task_id: z.string().nullable(),
  document_id: z.string().nullable(),
  job_id: z.string().nullable(),
  api_key_id: z.string().nullable(),
  created_at: instantOut,
};

const usageItem = z
  .strictObject({ ...usageMembers, kind: z.enum(['usage', 'admin_adjustment']) })
  .meta({ id: 'UsageItem' });

export const usageHistory = pageOf(usageItem, 'UsageHistoryResponse');

const categoryOfDay = z
  .strictObject({
    category: z.string(),
    operations: z.int(),
    pages: z.int(),
    free_pages: z.int(),
    credits: creditsOut,
  })
  .meta({ id: 'UsageDayCategory' });

const usageDay = z
  .strictObject({
    day: z.iso.date(),
    used_credits: creditsOut,
    granted_credits: creditsOut,
    adjusted_credits: creditsOut,
    balance_credits: creditsOut.nullable(),
    categories: z.array(categoryOfDay),
  })
  .meta({ id: 'UsageDay' });

export const usageDaysResponse = z
  .strictObject({ tenant_id: z.string(), start: z.iso.date(), end: z.iso.date(), items: z.array(usageDay) })
  .meta({ id: 'UsageDaysResponse' });

export const quoteResponse = z
  .strictObject({
    tenant_id: z.string(),
    operation: z.string(),
    extraction_mode: z.string(),
    billing_type: z.string(),
    pages: z.int(),
    free_pages_applied: z.int(),
    billable_pages: z.int(),
    credits_per_page: creditsOut,
    credits: creditsOut,
    list_value_usd: usdOut,
    available_credits: creditsOut,
    sufficient: z.boolean(),
    billing_config_version: z.int(),
  })
  .meta({ id: 'QuoteResponse' });
