import type { ReadTable } from '../engine/projector.ts';

/** Published artifacts. `is_usable`: their job has succeeded. */
export const artifactsDdl = (schema: string): string => `
  create table ${schema}.artifacts (
    artifact_id text collate "C" primary key,
    job_id text collate "C" not null,
    tenant_id text collate "C" not null,
    position int8 not null,
    project_id text collate "C" not null,
    task_id text collate "C" not null,
    sha256 text not null,
    bytes int8 not null,
    schema_sha256 text not null,
    scores jsonb not null,
    is_usable boolean not null,
    published_at text not null
  );
  create index on ${schema}.artifacts (tenant_id, position desc)`;

export const artifactsTables: readonly ReadTable[] = [{ name: 'artifacts', key: ['artifact_id'] }];
