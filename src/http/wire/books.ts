import { z } from 'zod';
import { actor } from '../../../domain/kernel/decider.ts';
import { plan } from '../../../domain/account/messages.ts';
import { creditsOut, instantOut, minorOut, pageOf, usdOut, logIdOut } from './basics.ts';
import { usageMembers } from './reports.ts';

const tenantItem = z
  .strictObject({
    tenant_id: z.string(),
    plan,
    balance_credits: creditsOut,
    held_credits: creditsOut,
    total_credits_purchased: creditsOut,
    total_credits_used: creditsOut,
    free_pages_remaining: z.int(),
    created_at: instantOut,
    last_activity_at: instantOut,
  })
  .meta({ id: 'TenantItem' });

export const tenantList = pageOf(tenantItem, 'AdminTenantListResponse');

/** Members that rows of one kind have: sales and refunds, or adjustments. */
const membersOfKinds = z
  .strictObject({
    grant_id: z.string(),
    original_grant_id: z.string(),
    currency: z.string(),
    gross_amount_minor: minorOut.nullable(),
    vat_amount_minor: minorOut,
    provider_fee_minor: minorOut,
    net_amount_minor: minorOut.nullable(),
    price_list_version: z.int(),
    provider: z.string(),
    provider_txn_id: z.string(),
    invoice_ref: z.string().nullable(),
    occurred_at: instantOut,
    reason: z.string().nullable(),
    allow_negative: z.boolean(),
    actor: actor.nullable(),
  })
  .partial();

const ledgerItem = z
  .strictObject({
    ...usageMembers,
    kind: z.enum(['sale', 'refund', 'usage', 'admin_adjustment']),
    ...membersOfKinds.shape,
  })
  .meta({ id: 'LedgerItem', description: 'A posting; members beyond the first are those of its kind.' });

export const tenantLedger = pageOf(ledgerItem, 'AdminTenantLedgerResponse');

const sums = {
  operations: z.int(),
  pages: z.int(),
  free_pages: z.int(),
  credits: creditsOut,
  list_value_usd: usdOut,
};

export const usageStatsResponse = z
  .strictObject({
    log_id: logIdOut,
    group_by: z.string(),
    from_date: instantOut.nullable(),
    to_date: instantOut.nullable(),
    items: z.array(
      z
        .strictObject({ key: z.string(), category: z.string().optional(), ...sums })
        .meta({ id: 'UsageStatsItem' }),
    ),
    totals: z.strictObject(sums).meta({ id: 'UsageStatsTotals' }),
  })
  .meta({ id: 'AdminUsageStatsResponse' });

const reconciliationRow = z
  .strictObject({
    tenant_id: z.string(),
    grants_credits: creditsOut,
    adjustments_credits: creditsOut,
    burns_credits: creditsOut,
    expected_balance_credits: creditsOut,
    balance_credits: creditsOut,
    drift_credits: creditsOut,
  })
  .meta({ id: 'ReconciliationRow' });

export const reconciliationResponse = z
  .strictObject({
    checked_at: instantOut,
    log_id: logIdOut,
    position: z.string().nullable().meta({ description: 'Place in the event log that the books are of.' }),
    tenants_checked: z.int(),
    drifted: z.array(reconciliationRow),
    ok: z.array(reconciliationRow).optional(),
  })
  .meta({ id: 'ReconciliationResponse' });
