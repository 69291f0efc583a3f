import { jsonText } from '../engine/bulk.ts';
import type { ProjectedEvent, ProjectedEventOf } from '../engine/event.ts';
import { tenantOf } from '../engine/event.ts';

export const LEDGER_EVENTS = [
  'CreditsGranted',
  'CreditsRefunded',
  'CreditsAdjusted',
  'CreditsBurned',
] as const;

export type LedgerKind = 'sale' | 'refund' | 'usage' | 'admin_adjustment';

/** One posting as it is stored. `details` is JSON text of the members that only its kind has. */
export interface LedgerRow {
  readonly tenant_id: string;
  readonly position: bigint;
  /** 0 for the free pages of an operation, 1 for all other postings. */
  readonly part: number;
  readonly id: string;
  readonly kind: LedgerKind;
  readonly operation: string | null;
  readonly category: string | null;
  readonly extraction_mode: string | null;
  readonly billing_type: string | null;
  readonly pages: number;
  readonly free_pages: number;
  readonly credits_per_page: number | null;
  readonly credits_delta: number;
  readonly balance_after: number;
  readonly billing_config_version: number | null;
  readonly project_id: string | null;
  readonly task_id: string | null;
  readonly document_id: string | null;
  readonly job_id: string | null;
  readonly api_key_id: string | null;
  readonly details: string | null;
  readonly created_at: string;
}

const NOT_USAGE = {
  part: 1,
  operation: null,
  category: null,
  extraction_mode: null,
  billing_type: null,
  pages: 0,
  free_pages: 0,
  credits_per_page: null,
  billing_config_version: null,
  project_id: null,
  task_id: null,
  document_id: null,
  job_id: null,
  api_key_id: null,
} as const;

const placeOf = (event: ProjectedEvent) => ({ tenant_id: tenantOf(event), position: event.position });

const saleRow = (event: ProjectedEventOf<'CreditsGranted'>): LedgerRow => {
  const { grant_id, credits, balance_after, created_at, ...data } = event.data;
  const gross = data.gross_amount_minor;
  return {
    ...placeOf(event),
    ...NOT_USAGE,
    id: grant_id,
    kind: 'sale',
    credits_delta: credits,
    balance_after,
    created_at,
    details: jsonText({
      grant_id,
      currency: data.currency,
      gross_amount_minor: gross,
      vat_amount_minor: data.vat_amount_minor,
      provider_fee_minor: data.provider_fee_minor,
      net_amount_minor: gross === null ? null : gross - data.vat_amount_minor,
      price_list_version: data.price_list_version,
      provider: data.provider,
      provider_txn_id: data.provider_txn_id,
      invoice_ref: data.invoice_ref,
      occurred_at: data.occurred_at,
    }),
  };
};

const refundRow = (event: ProjectedEventOf<'CreditsRefunded'>): LedgerRow => {
  const { refund_id, credits, balance_after, created_at, ...data } = event.data;
  return {
    ...placeOf(event),
    ...NOT_USAGE,
    id: refund_id,
    kind: 'refund',
    credits_delta: credits === 0 ? 0 : -credits,
    balance_after,
    created_at,
    details: jsonText({
      grant_id: refund_id,
      original_grant_id: data.grant_id,
      currency: data.currency,
      gross_amount_minor: data.gross_amount_minor,
      vat_amount_minor: data.vat_amount_minor,
      provider_fee_minor: data.provider_fee_minor,
      net_amount_minor: data.gross_amount_minor - data.vat_amount_minor,
      provider: data.provider,
      provider_txn_id: data.provider_txn_id,
      reason: data.reason,
      occurred_at: data.occurred_at,
    }),
  };
};

const adjustmentRow = (event: ProjectedEventOf<'CreditsAdjusted'>): LedgerRow => {
  const { adjustment_id, credits, reason, allow_negative, balance_after, created_at } = event.data;
  return {
    ...placeOf(event),
    ...NOT_USAGE,
    id: adjustment_id,
    kind: 'admin_adjustment',
    category: 'adjustment',
    credits_delta: credits,
    balance_after,
    created_at,
    details: jsonText({ reason, allow_negative, actor: event.metadata['actor'] ?? null }),
  };
};

/** An operation with free and paid pages is two rows, the free one first. */
const usageRows = (event: ProjectedEventOf<'CreditsBurned'>): readonly LedgerRow[] => {
  const { data } = event;
  const { usage_id, pages, free_pages, credits, balance_after } = data;
  const { operation, category, extraction_mode, billing_type, credits_per_page } = data;
  const { billing_config_version, project_id, task_id, document_id, job_id, api_key_id, created_at } = data;
  const both = {
    ...placeOf(event),
    kind: 'usage',
    operation,
    category,
    extraction_mode,
    billing_type,
    credits_per_page,
    billing_config_version,
    project_id,
    task_id,
    document_id,
    job_id,
    api_key_id,
    details: null,
    created_at,
  } as const;
  const free: LedgerRow = {
    ...both,
    part: 0,
    id: free_pages === pages ? usage_id : `${usage_id}_free`,
    pages: free_pages,
    free_pages,
    credits_delta: 0,
    balance_after: balance_after + credits,
  };
  const paid: LedgerRow = {
    ...both,
    part: 1,
    id: usage_id,
    pages: pages - free_pages,
    free_pages: 0,
    credits_delta: credits === 0 ? 0 : -credits,
    balance_after,
  };
  if (free_pages === 0) return [paid];
  return free_pages === pages ? [free] : [free, paid];
};

/** The postings that an event makes. */
export const ledgerRowsOf = (event: ProjectedEvent): readonly LedgerRow[] => {
  if (event.type === 'CreditsBurned') return usageRows(event);
  if (event.type === 'CreditsGranted') return [saleRow(event)];
  if (event.type === 'CreditsRefunded') return [refundRow(event)];
  if (event.type === 'CreditsAdjusted') return [adjustmentRow(event)];
  return [];
};
