import { negated, plus } from '../../domain/kernel/units.ts';
import { jsonText } from '../engine/apply/bulk.ts';
import type { ProjectedEvent, ProjectedEventOf } from '../engine/feed/event.ts';
import { tenantOf } from '../engine/feed/event.ts';
import type { Row } from '../engine/table.ts';
import type { ledger } from './ledger.schema.ts';

export const LEDGER_EVENTS = [
  'CreditsGranted',
  'CreditsRefunded',
  'CreditsAdjusted',
  'CreditsBurned',
] as const;

export type LedgerKind = 'sale' | 'refund' | 'usage' | 'admin_adjustment';

/**
 * One posting. `part` is 0 for the free pages of an operation, 1 for all other postings; `details` is JSON text
 * of the members that only its kind has.
 */
export interface LedgerRow extends Omit<Row<typeof ledger>, 'ordinal' | 'kind'> {
  readonly kind: LedgerKind;
  /** Given when the row is written. */
  ordinal: number;
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

const placeOf = (event: ProjectedEvent) => ({
  tenant_id: tenantOf(event),
  ordinal: 0,
  position: event.position,
});

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
    credits_delta: negated(credits),
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

type Burned = ProjectedEventOf<'CreditsBurned'>;

/** What differs between the rows of one operation. */
type UsagePart = Pick<LedgerRow, 'part' | 'id' | 'pages' | 'free_pages' | 'credits_delta' | 'balance_after'>;

/** Written out, not spread: there is one for every burn, and spreading so many members is slow. */
const usageRow = (event: Burned, part: UsagePart): LedgerRow => {
  const { data } = event;
  return {
    tenant_id: tenantOf(event),
    ordinal: 0,
    position: event.position,
    part: part.part,
    id: part.id,
    kind: 'usage',
    operation: data.operation,
    category: data.category,
    extraction_mode: data.extraction_mode,
    billing_type: data.billing_type,
    pages: part.pages,
    free_pages: part.free_pages,
    credits_per_page: data.credits_per_page,
    credits_delta: part.credits_delta,
    balance_after: part.balance_after,
    billing_config_version: data.billing_config_version,
    project_id: data.project_id,
    task_id: data.task_id,
    document_id: data.document_id,
    job_id: data.job_id,
    api_key_id: data.api_key_id,
    details: null,
    created_at: data.created_at,
  };
};

/** An operation with free and paid pages is two rows, the free one first. */
const usageRows = (event: Burned): readonly LedgerRow[] => {
  const { usage_id, pages, free_pages, credits, balance_after } = event.data;
  const rows: LedgerRow[] = [];
  if (free_pages > 0) {
    const id = free_pages === pages ? usage_id : `${usage_id}_free`;
    const before = plus(balance_after, credits);
    const part = { part: 0, id, pages: free_pages, free_pages, credits_delta: 0, balance_after: before };
    rows.push(usageRow(event, part));
  }
  if (free_pages < pages || pages === 0) {
    const paid = pages - free_pages;
    const credits_delta = negated(credits);
    rows.push(
      usageRow(event, { part: 1, id: usage_id, pages: paid, free_pages: 0, credits_delta, balance_after }),
    );
  }
  return rows;
};

/** The postings that an event makes. */
export const ledgerRowsOf = (event: ProjectedEvent): readonly LedgerRow[] => {
  if (event.type === 'CreditsBurned') return usageRows(event);
  if (event.type === 'CreditsGranted') return [saleRow(event)];
  if (event.type === 'CreditsRefunded') return [refundRow(event)];
  if (event.type === 'CreditsAdjusted') return [adjustmentRow(event)];
  return [];
};
