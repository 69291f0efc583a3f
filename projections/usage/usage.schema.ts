import type { ReadTable } from '../engine/projector.ts';

/**
 * What was consumed, summed up by UTC day, and by document. `credits` is what left the balance: a gift
 * counts below zero. `operations` counts an operation once, also where it has two ledger rows.
 */
export const usageDdl = (schema: string): string => `
  create table ${schema}.usage_days (
    day text collate "C" not null,
    tenant_id text collate "C" not null,
    kind text collate "C" not null,
    operation text collate "C" not null,
    category text collate "C" not null,
    extraction_mode text collate "C" not null,
    billing_type text collate "C" not null,
    task_id text collate "C" not null,
    operations int8 not null,
    pages int8 not null,
    free_pages int8 not null,
    credits int8 not null,
    primary key (day, tenant_id, kind, operation, category, extraction_mode, billing_type, task_id)
  ) with (fillfactor = 50);
  create index on ${schema}.usage_days (tenant_id, day);
  create table ${schema}.usage_documents (
    tenant_id text collate "C" not null,
    document_id text collate "C" not null,
    task_id text collate "C" not null,
    operations int8 not null,
    pages int8 not null,
    credits int8 not null,
    last_used_at text not null,
    last_position int8 not null,
    primary key (tenant_id, document_id)
  ) with (fillfactor = 80);
  create index on ${schema}.usage_documents (last_position desc)`;

export const usageTables: readonly ReadTable[] = [
  {
    name: 'usage_days',
    key: ['day', 'tenant_id', 'kind', 'operation', 'category', 'extraction_mode', 'billing_type', 'task_id'],
  },
  { name: 'usage_documents', key: ['tenant_id', 'document_id'] },
];
