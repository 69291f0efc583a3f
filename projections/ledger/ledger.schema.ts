import type { ReadTable } from '../engine/projector.ts';

/**
 * Every posting. `position` and `part` order a tenant's rows; the newest one's `balance_after` is the
 * balance. `ledger_days` counts rows by UTC day of `created_at`, and says between which positions they
 * lie, so that totals and date ranges need no scan.
 */
export const ledgerDdl = (schema: string): string => `
  create table ${schema}.ledger (
    tenant_id text collate "C" not null,
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
    primary key (tenant_id, position, part)
  );
  create table ${schema}.ledger_days (
    tenant_id text collate "C" not null,
    day text collate "C" not null,
    kind text collate "C" not null,
    operation text collate "C" not null,
    rows int8 not null,
    credits_delta int8 not null,
    pages int8 not null,
    free_pages int8 not null,
    first_position int8 not null,
    last_position int8 not null,
    primary key (tenant_id, day, kind, operation)
  ) with (fillfactor = 50)`;

export const ledgerTables: readonly ReadTable[] = [
  { name: 'ledger', key: ['tenant_id', 'position', 'part'] },
  { name: 'ledger_days', key: ['tenant_id', 'day', 'kind', 'operation'] },
];
