import type { ReadTable } from '../engine/projector.ts';

/** Documents that the service has seen: what identifies and measures them. `removed_at`: its upload is gone. */
export const documentsDdl = (schema: string): string => `
  create table ${schema}.documents (
    document_id text collate "C" primary key,
    tenant_id text collate "C" not null,
    position int8 not null,
    project_id text collate "C" not null,
    task_id text collate "C" not null,
    file_name text,
    mime_type text not null,
    bytes int8 not null,
    pages int8 not null,
    sha256 text not null,
    source text not null,
    created_at text not null,
    removed_at text
  );
  create index on ${schema}.documents (tenant_id, position desc)`;

export const documentsTables: readonly ReadTable[] = [{ name: 'documents', key: ['document_id'] }];
