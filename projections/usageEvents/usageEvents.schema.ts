import type { ReadTable } from '../engine/projector.ts';

/**
 * Measured work, one row an extraction or conversion. It carries no price: the ledger does. Beside it those
 * whose burn is there and whose usage event is not.
 */
export const usageEventsDdl = (schema: string): string => `
  create table ${schema}.usage_events (
    id text collate "C" primary key,
    kind text not null,
    tenant_id text collate "C" not null,
    position int8 not null,
    project_id text not null,
    task_id text not null,
    document_id text not null,
    document_sha256 text not null,
    mode text not null,
    billing_type text not null,
    model text not null,
    ocr_model text,
    pages int8 not null,
    free_pages int8,
    hold_id text,
    api_key_id text not null,
    state text not null,
    problem_code text,
    duration_ms int8,
    requested_at text not null,
    finished_at text
  ) with (fillfactor = 80);
  create index on ${schema}.usage_events (tenant_id, position desc);
  create index on ${schema}.usage_events (document_id);
  create table ${schema}.unrecorded_work (
    operation_id text collate "C" primary key,
    operation text not null,
    tenant_id text collate "C" not null,
    pages int8 not null,
    free_pages int8 not null,
    status text not null,
    duration_ms int8 not null,
    burned_at text collate "C" not null
  );
  create index on ${schema}.unrecorded_work (burned_at)`;

export const usageEventsTables: readonly ReadTable[] = [
  { name: 'usage_events', key: ['id'] },
  { name: 'unrecorded_work', key: ['operation_id'] },
];
