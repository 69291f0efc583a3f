import { randomUUID } from 'node:crypto';
import type {
  AdjustCredits,
  ChargeCredits,
  GrantCredits,
  HoldCredits,
  RefundCredits,
  ReleaseHold,
  ReverseRefund,
  SettleHold,
} from '../../../domain/account/messages.ts';
import type { CommandMeta } from '../../../domain/kernel/decider.ts';
import { asCredits } from '../../../domain/kernel/amounts.ts';

/** A fixed time: nothing in these commands depends on the real one. */
export const NOW = '2026-01-31T08:00:00.000Z';

/** Meta of one request; each call is another command unless an ID is given. */
export const metaOf = (command_id: string = randomUUID()): CommandMeta => ({
  now: NOW,
  actor: { key_id: 'key_1', role: 'tenant' },
  correlation_id: `req-${command_id}`,
  command_id,
});

const scope = {
  project_id: 'default',
  task_id: 'default',
  document_id: null,
  job_id: null,
  api_key_id: null,
};

export const adjustment = (tenant_id: string, credits: number, key: string | null = null): AdjustCredits => ({
  type: 'AdjustCredits',
  data: {
    tenant_id,
    adjustment_id: `adj_${key ?? randomUUID()}`,
    idempotency_key: key,
    fingerprint: `adjust ${credits}`,
    credits: asCredits(credits),
    reason: 'test',
    allow_negative: false,
  },
  meta: metaOf(),
});

export const charge = (tenant_id: string, credits: number, key: string): ChargeCredits => ({
  type: 'ChargeCredits',
  data: {
    tenant_id,
    usage_id: `use_${key}`,
    idempotency_key: key,
    fingerprint: `charge ${credits}`,
    credits: asCredits(credits),
    operation: 'examples_export',
    category: 'training',
    billing_type: 'full_service',
    billing_config_version: 1,
    paid_plan_required: false,
    ...scope,
  },
  meta: metaOf(),
});

/** A hold of paid pages at 1 credit each. */
export const hold = (tenant_id: string, hold_id: string, pages: number): HoldCredits => ({
  type: 'HoldCredits',
  data: {
    tenant_id,
    hold_id,
    operation_id: `ext_${hold_id}`,
    operation: 'extract',
    category: 'extraction',
    extraction_mode: 'standard',
    billing_type: 'full_service',
    pages,
    credits_per_page: asCredits(1),
    free_pages_allowance: 0,
    billing_config_version: 1,
    expires_at: '2026-01-31T08:15:00.000Z',
  },
  meta: metaOf(),
});

export const settle = (tenant_id: string, hold_id: string, pages: number): SettleHold => ({
  type: 'SettleHold',
  data: { tenant_id, usage_id: `use_${hold_id}`, hold_id, pages, ...scope },
  meta: metaOf(),
});

export const release = (tenant_id: string, hold_id: string): ReleaseHold => ({
  type: 'ReleaseHold',
  data: { tenant_id, hold_id, reason: 'failed' },
  meta: metaOf(),
});

/** A sale of credits at 1.00 USD for 1,000. */
export const sale = (tenant_id: string, credits: number, provider_txn_id: string): GrantCredits => ({
  type: 'GrantCredits',
  data: {
    tenant_id,
    grant_id: `grt_${randomUUID()}`,
    provider: 'stripe',
    provider_txn_id,
    credits: asCredits(credits),
    currency: 'USD',
    gross_amount_minor: credits / 10,
    vat_amount_minor: 0,
    provider_fee_minor: 0,
    price_list_version: 1,
    price_per_1000_credits: '1.00',
    tax_basis: 'exclusive',
    fx_rate_to_usd: '1',
    fx_rate_date: '2026-01-31',
    fingerprint: `sale ${tenant_id} ${credits}`,
    invoice_ref: null,
    note: null,
    occurred_at: NOW,
  },
  meta: metaOf(),
});

/** A refund of `credits` of the sale, money in proportion. */
export const refund = (
  tenant_id: string,
  credits: number,
  ids: { readonly txn: string; readonly original: string },
): RefundCredits => ({
  type: 'RefundCredits',
  data: {
    tenant_id,
    refund_id: `rfd_${randomUUID()}`,
    provider: 'stripe',
    provider_txn_id: ids.txn,
    original_provider: 'stripe',
    original_provider_txn_id: ids.original,
    credits: asCredits(credits),
    currency: 'USD',
    gross_amount_minor: credits / 10,
    vat_amount_minor: null,
    provider_fee_minor: 0,
    fingerprint: `refund ${credits}`,
    reason: null,
    occurred_at: NOW,
  },
  meta: metaOf(),
});

/** A reversal of the refund, whole. */
export const reversal = (
  tenant_id: string,
  of: { readonly refund_id: string; readonly provider_txn_id: string },
  txn: string,
): ReverseRefund => ({
  type: 'ReverseRefund',
  data: {
    tenant_id,
    reversal_id: `rev_${randomUUID()}`,
    refund_id: of.refund_id,
    refund_provider_txn_id: of.provider_txn_id,
    provider: 'stripe',
    provider_txn_id: txn,
    credits: null,
    gross_amount_minor: null,
    fingerprint: `reversal ${txn}`,
    reason: null,
    occurred_at: NOW,
  },
  meta: metaOf(),
});
