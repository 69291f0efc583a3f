import type { ReadTable } from '../engine/projector.ts';

/**
 * One row a tenant. `balance_credits` = purchased (net of refunds) + adjusted − used; available is
 * balance − held. Free space in each page lets a hot row be updated in place.
 */
export const balancesDdl = (schema: string): string => `
  create table ${schema}.balances (
    tenant_id text collate "C" primary key,
    plan text,
    balance_credits int8 not null,
    held_credits int8 not null,
    purchased_credits int8 not null,
    used_credits int8 not null,
    adjusted_credits int8 not null,
    free_pages_used int8 not null,
    free_pages_held int8 not null,
    grants_count int8 not null,
    created_at text not null,
    last_activity_at text not null
  ) with (fillfactor = 50);
  create table ${schema}.open_holds (
    tenant_id text collate "C" not null,
    hold_id text collate "C" not null,
    operation text not null,
    credits int8 not null,
    free_pages int8 not null,
    created_at text not null,
    expires_at text not null,
    primary key (tenant_id, hold_id)
  )`;

export const balancesTables: readonly ReadTable[] = [
  { name: 'balances', key: ['tenant_id'] },
  { name: 'open_holds', key: ['tenant_id', 'hold_id'] },
];
