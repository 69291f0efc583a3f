import { table } from '../engine/table.ts';

/** Sales, and refunds as negative rows linked to their sale; a sale knows what of it was refunded. */
export const grants = table({
  name: 'grants',
  key: ['tenant_id', 'position'],
  columns: {
    tenant_id: 'sorted',
    position: 'position',
    grant_id: 'sorted',
    kind: 'text',
    credits: 'int8',
    original_grant_id: 'text?',
    refunded_credits: 'int8',
    refunded_amount_minor: 'int8',
    currency: 'text',
    gross_amount_minor: 'int8?',
    vat_amount_minor: 'int8',
    provider_fee_minor: 'int8',
    net_amount_minor: 'int8?',
    price_list_version: 'int4?',
    fx_rate_to_usd: 'text?',
    provider: 'text',
    provider_txn_id: 'text',
    invoice_ref: 'text?',
    occurred_at: 'text',
    created_at: 'text',
  },
  indexes: ['unique (tenant_id, grant_id)'],
  fillfactor: 80,
});
