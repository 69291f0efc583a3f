import { bigintOf, pick, type Projector, type Row, type Sum, table, textOf } from './engine/table.ts';
import { negated, plus } from '../domain/kernel/amounts.ts';
import { bulk, jsonText, records, upserting } from './engine/bulk.ts';
import { type ProjectedEvent, type ProjectedEventOf, type SqlTx, tenantOf } from './engine/ports.ts';

/** Rows of a tenant that one row of `ledger_blocks` counts at most. */
export const BLOCK_ROWS = 4096;

/** Every posting. `ordinal` numbers a tenant's rows from 0; `balance_after` of the newest is the balance. */
export const ledger = table({
  name: 'ledger',
  key: ['tenant_id', 'ordinal'],
  columns: {
    tenant_id: 'sorted',
    ordinal: 'int8',
    position: 'position',
    part: 'int2',
    id: 'text',
    kind: 'text',
    operation: 'text?',
    category: 'text?',
    extraction_mode: 'text?',
    billing_type: 'text?',
    completion_window: 'text?',
    pages: 'int8',
    free_pages: 'int8',
    credits_per_page: 'int8?',
    credits_delta: 'int8',
    balance_after: 'int8',
    billing_config_version: 'int4?',
    project_id: 'text?',
    task_id: 'text?',
    document_id: 'text?',
    job_id: 'text?',
    api_key_id: 'text?',
    tags: 'jsonb?',
    details: 'jsonb?',
    created_at: 'text',
  },
});

/**
 * Counts each block of `BLOCK_ROWS` ordinals by kind and operation, with the first and last ordinal and time:
 * totals, date ranges and deep offsets need no scan.
 */
export const ledgerBlocks = table({
  name: 'ledger_blocks',
  key: ['tenant_id', 'block', 'kind', 'operation'],
  columns: {
    tenant_id: 'sorted',
    block: 'int4',
    kind: 'sorted',
    operation: 'sorted',
    rows: 'int8 add',
    first_ordinal: 'int8',
    last_ordinal: 'int8 replace',
    first_created_at: 'sorted least',
    last_created_at: 'sorted greatest',
  },
  fillfactor: 50,
});

type BlockCount = Sum<typeof ledgerBlocks>;

const firstOf = (
  { tenant_id, ordinal, kind, operation, created_at }: LedgerRow,
  block: number,
): BlockCount => ({
  tenant_id,
  block,
  kind,
  operation: operation ?? '',
  rows: 0,
  first_ordinal: ordinal,
  last_ordinal: ordinal,
  first_created_at: created_at,
  last_created_at: created_at,
});

/** Counts numbered rows by block, kind and operation. */
const blocksOf = (rows: readonly LedgerRow[]): readonly BlockCount[] => {
  const counts = new Map<string, BlockCount>();
  for (const row of rows) {
    const { tenant_id, ordinal, kind, created_at } = row;
    const block = Math.floor(ordinal / BLOCK_ROWS);
    const key = `${tenant_id} ${String(block)} ${kind} ${row.operation ?? ''}`;
    let count = counts.get(key);
    if (count === undefined) {
      count = firstOf(row, block);
      counts.set(key, count);
    }
    count.rows += 1;
    count.last_ordinal = ordinal;
    if (created_at < count.first_created_at) count.first_created_at = created_at;
    if (created_at > count.last_created_at) count.last_created_at = created_at;
  }
  return [...counts.values()];
};

const LEDGER_EVENTS = [
  'CreditsGranted',
  'CreditsRefunded',
  'RefundReversed',
  'CreditsTransferredOut',
  'CreditsTransferredIn',
  'CreditsAdjusted',
  'CreditsBurned',
] as const;

export type LedgerKind =
  | 'sale'
  | 'refund'
  | 'reversal'
  | 'transfer_out'
  | 'transfer_in'
  | 'usage'
  | 'admin_adjustment';

/**
 * One posting. `part` is 0 for the free pages of an operation, 1 for all other postings; `details` is JSON text
 * of the members that only its kind has.
 */
interface LedgerRow extends Omit<Row<typeof ledger>, 'ordinal' | 'kind'> {
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
  completion_window: null,
  pages: 0,
  free_pages: 0,
  credits_per_page: null,
  billing_config_version: null,
  project_id: null,
  task_id: null,
  document_id: null,
  job_id: null,
  api_key_id: null,
  tags: null,
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

const reversalRow = (event: ProjectedEventOf<'RefundReversed'>): LedgerRow => {
  const { reversal_id, credits, balance_after, created_at, ...data } = event.data;
  return {
    ...placeOf(event),
    ...NOT_USAGE,
    id: reversal_id,
    kind: 'reversal',
    credits_delta: credits,
    balance_after,
    created_at,
    details: jsonText({
      grant_id: reversal_id,
      original_grant_id: data.grant_id,
      refund_id: data.refund_id,
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

const sentRow = (event: ProjectedEventOf<'CreditsTransferredOut'>): LedgerRow => {
  const { transfer_id, to_tenant_id, credits, reason, balance_after, created_at } = event.data;
  return {
    ...placeOf(event),
    ...NOT_USAGE,
    id: transfer_id,
    kind: 'transfer_out',
    credits_delta: negated(credits),
    balance_after,
    created_at,
    details: jsonText({ other_tenant_id: to_tenant_id, reason }),
  };
};

const receivedRow = (event: ProjectedEventOf<'CreditsTransferredIn'>): LedgerRow => {
  const { transfer_id, from_tenant_id, credits, balance_after, created_at } = event.data;
  return {
    ...placeOf(event),
    ...NOT_USAGE,
    id: transfer_id,
    kind: 'transfer_in',
    credits_delta: credits,
    balance_after,
    created_at,
    details: jsonText({ other_tenant_id: from_tenant_id }),
  };
};

type Burned = ProjectedEventOf<'CreditsBurned'>;

/** What differs between the rows of one operation. */
type UsagePart = Pick<LedgerRow, 'part' | 'id' | 'pages' | 'free_pages' | 'credits_delta' | 'balance_after'>;

/** Written out, not spread: there is one for every burn, and spreading many members is slow. */
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
    completion_window: data.completion_window ?? null,
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
    tags: data.tags === undefined ? null : jsonText(data.tags),
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
const ledgerRowsOf = (event: ProjectedEvent): readonly LedgerRow[] => {
  if (event.type === 'CreditsBurned') return usageRows(event);
  if (event.type === 'CreditsGranted') return [saleRow(event)];
  if (event.type === 'CreditsRefunded') return [refundRow(event)];
  if (event.type === 'RefundReversed') return [reversalRow(event)];
  if (event.type === 'CreditsTransferredOut') return [sentRow(event)];
  if (event.type === 'CreditsTransferredIn') return [receivedRow(event)];
  if (event.type === 'CreditsAdjusted') return [adjustmentRow(event)];
  return [];
};

const postings = records(ledger.columns);
const addCounts = upserting(ledgerBlocks);
const tenants = bulk(pick(ledger.columns, 'tenant_id'));

/** The newest row of each tenant tells how many it has. */
const NEWEST = (schema: string) => `
  select u.tenant_id, l.ordinal from ${tenants.source()} cross join lateral (
    select ordinal from ${schema}.ledger where tenant_id = u.tenant_id order by ordinal desc limit 1
  ) l`;

const POST = (schema: string) => `
  insert into ${schema}.ledger (${postings.names})
  select ${postings.names} from ${postings.source(`${schema}.ledger`)}`;

/** Numbers new rows from their tenant's next ordinal on. */
const number = async (tx: SqlTx, schema: string, rows: readonly LedgerRow[]): Promise<void> => {
  const ids = [...new Set(rows.map(({ tenant_id }) => tenant_id))];
  const newest = await tx.query(NEWEST(schema), tenants.values(ids.map((tenant_id) => ({ tenant_id }))));
  const next = new Map(newest.map((row) => [textOf(row, 'tenant_id'), Number(bigintOf(row, 'ordinal')) + 1]));
  for (const row of rows) {
    row.ordinal = next.get(row.tenant_id) ?? 0;
    next.set(row.tenant_id, row.ordinal + 1);
  }
};

/** Every posting of every tenant, with counts by block of rows, kind and operation. */
export const ledgerProjector: Projector = {
  name: 'ledger',
  version: 6,
  eventTypes: LEDGER_EVENTS,
  tables: [ledger, ledgerBlocks],
  apply: async (tx, { schema, events }) => {
    const rows = events.flatMap(ledgerRowsOf);
    await number(tx, schema, rows);
    await tx.query(POST(schema), postings.values(rows));
    await addCounts(tx, schema, blocksOf(rows));
  },
};
