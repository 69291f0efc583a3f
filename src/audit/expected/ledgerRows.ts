import { accountOf, byType, type AuditedEventOf } from '../log/auditedEvent.ts';
import { ledger, ledgerBlocks } from '../../../projections/ledger.ts';
import { keptRows, noneOf, type ExpectedModel, type ExpectedRow, type ExpectedSum } from './expectedRows.ts';

type Granted = AuditedEventOf<'CreditsGranted'>;
type Refunded = AuditedEventOf<'CreditsRefunded'>;
type Adjusted = AuditedEventOf<'CreditsAdjusted'>;
type Burned = AuditedEventOf<'CreditsBurned'>;

type Posting = Omit<ExpectedRow<typeof ledger>, 'ordinal'>;

/** What every posting has; a burn fills in the rest. */
const posting = (
  event: Granted | Refunded | Adjusted | Burned,
  of: { readonly id: string; readonly kind: string; readonly credits_delta: number },
): Posting => ({
  ...noneOf(ledger.columns),
  tenant_id: accountOf(event.stream) ?? '',
  position: event.position,
  part: 1,
  pages: 0,
  free_pages: 0,
  balance_after: event.data.balance_after,
  created_at: event.data.created_at,
  ...of,
});

const money = ({ data }: Granted | Refunded, grant_id: string): Record<string, unknown> => ({
  grant_id,
  currency: data.currency,
  gross_amount_minor: data.gross_amount_minor,
  vat_amount_minor: data.vat_amount_minor,
  provider_fee_minor: data.provider_fee_minor,
  net_amount_minor: data.gross_amount_minor === null ? null : data.gross_amount_minor - data.vat_amount_minor,
  provider: data.provider,
  provider_txn_id: data.provider_txn_id,
  occurred_at: data.occurred_at,
});

const saleRow = (event: Granted): Posting => {
  const { grant_id, credits, price_list_version, invoice_ref } = event.data;
  return {
    ...posting(event, { id: grant_id, kind: 'sale', credits_delta: credits }),
    details: { ...money(event, grant_id), price_list_version, invoice_ref },
  };
};

const refundRow = (event: Refunded): Posting => {
  const { refund_id, grant_id, credits, reason } = event.data;
  return {
    ...posting(event, { id: refund_id, kind: 'refund', credits_delta: 0 - credits }),
    details: { ...money(event, refund_id), original_grant_id: grant_id, reason },
  };
};

const adjustmentRow = (event: Adjusted): Posting => {
  const { adjustment_id, credits, reason, allow_negative } = event.data;
  return {
    ...posting(event, { id: adjustment_id, kind: 'admin_adjustment', credits_delta: credits }),
    category: 'adjustment',
    details: { reason, allow_negative, actor: event.metadata['actor'] ?? null },
  };
};

/** Free pages are a row of their own, without credits, before the paid ones. */
const usageInLedger = (event: Burned): readonly Posting[] => {
  const { data } = event;
  const paid = data.pages - data.free_pages;
  const shared = {
    ...posting(event, { id: data.usage_id, kind: 'usage', credits_delta: 0 - data.credits }),
    ...data,
    free_pages: 0,
  };
  const free = {
    ...shared,
    part: 0,
    id: paid === 0 ? data.usage_id : `${data.usage_id}_free`,
    pages: data.free_pages,
    free_pages: data.free_pages,
    credits_delta: 0,
    balance_after: data.balance_after + data.credits,
  };
  const rest = { ...shared, pages: paid };
  if (data.free_pages === 0) return [rest];
  return paid === 0 ? [free] : [free, rest];
};

/** Rows of a tenant that one row of `ledger_blocks` counts. */
const BLOCK_ROWS = 4096;

type BlockRow = ExpectedSum<typeof ledgerBlocks>;

/** The ledger, its rows numbered by tenant, and its counts by block. */
export const ledgerRows: ExpectedModel = {
  name: 'ledger',
  tables: [ledger, ledgerBlocks],
  start: (emit) => {
    const blocks = keptRows<typeof ledgerBlocks, BlockRow>(ledgerBlocks, emit);
    const next = new Map<string, number>();
    const addToBlock = (row: Posting, ordinal: number): void => {
      const { tenant_id, kind, created_at: at } = row;
      const [block, place, operation] = [
        Math.floor(ordinal / BLOCK_ROWS),
        BigInt(ordinal),
        row.operation ?? '',
      ];
      const count = blocks.at(`${tenant_id} ${block} ${kind} ${operation}`, () => ({
        ...{ tenant_id, block: BigInt(block), kind, operation, rows: 0n },
        ...{ first_ordinal: place, last_ordinal: place, first_created_at: at, last_created_at: at },
      }));
      count.rows += 1n;
      count.last_ordinal = place;
      if (at < count.first_created_at) count.first_created_at = at;
      if (at > count.last_created_at) count.last_created_at = at;
    };
    const add = (row: Posting): void => {
      const ordinal = next.get(row.tenant_id) ?? 0;
      next.set(row.tenant_id, ordinal + 1);
      emit(ledger, { ...row, ordinal });
      addToBlock(row, ordinal);
    };
    const apply = byType({
      CreditsGranted: (event) => add(saleRow(event)),
      CreditsRefunded: (event) => add(refundRow(event)),
      CreditsAdjusted: (event) => add(adjustmentRow(event)),
      CreditsBurned: (event) => usageInLedger(event).forEach(add),
    });
    return { apply, finish: blocks.emitAll };
  },
};
