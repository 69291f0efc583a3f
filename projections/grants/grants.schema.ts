import type { ReadTable } from '../engine/projector.ts';

/** Sales, and refunds as negative rows linked to their sale; a sale knows what of it was refunded. */
export const grantsDdl = (schema: string): string => `
  create table ${schema}.grants (
    tenant_id text collate "C" not null,
    position int8 not null,
    grant_id text collate "C" not null,
    kind text not null,
    credits int8 not null,
    original_grant_id text,
    refunded_credits int8 not null,
    refunded_amount_minor int8 not null,
    currency text not null,
    gross_amount_minor int8,
    vat_amount_minor int8 not null,
    provider_fee_minor int8 not null,
    net_amount_minor int8,
    price_list_version int4,
    fx_rate_to_usd text,
    provider text not null,
    provider_txn_id text not null,
    invoice_ref text,
    occurred_at text not null,
    created_at text not null,
    primary key (tenant_id, position)
  ) with (fillfactor = 80);
  create unique index on ${schema}.grants (tenant_id, grant_id)`;

export const grantsTables: readonly ReadTable[] = [{ name: 'grants', key: ['tenant_id', 'position'] }];
