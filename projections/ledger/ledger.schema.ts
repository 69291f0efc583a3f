import type { ReadTable } from '../engine/projector.ts';

/** Rows of a tenant that one row of `ledger_blocks` counts at most. */
export const BLOCK_ROWS = 4096;

/**
 * Every posting. `ordinal` numbers a tenant's rows from 0; the newest one's `balance_after` is the balance.
 * `ledger_blocks` counts the rows of each stretch of `BLOCK_ROWS` ordinals by kind and operation, and says
 * between which ordinals and times they lie: totals, date ranges and deep offsets need no scan.
 */
export const ledgerDdl = (schema: string): string => `
  create table ${schema}.ledger (
    tenant_id text collate "C" not null,
    ordinal int8 not null,
    position int8 not null,
    part int2 not null,
    id text not null,
    kind text not null,
    operation text,
    category text,
    extraction_mode text,
    billing_type text,
    pages int8 not null,
    free_pages int8 not null,
    credits_per_page int8,
    credits_delta int8 not null,
    balance_after int8 not null,
    billing_config_version int4,
    project_id text,
    task_id text,
    document_id text,
    job_id text,
    api_key_id text,
    details jsonb,
    created_at text not null,
    primary key (tenant_id, ordinal)
  );
  create table ${schema}.ledger_blocks (
    tenant_id text collate "C" not null,
    block int4 not null,
    kind text collate "C" not null,
    operation text collate "C" not null,
    rows int8 not null,
    first_ordinal int8 not null,
    last_ordinal int8 not null,
    first_created_at text collate "C" not null,
    last_created_at text collate "C" not null,
    primary key (tenant_id, block, kind, operation)
  ) with (fillfactor = 50)`;

export const ledgerTables: readonly ReadTable[] = [
  { name: 'ledger', key: ['tenant_id', 'ordinal'] },
  { name: 'ledger_blocks', key: ['tenant_id', 'block', 'kind', 'operation'] },
];
