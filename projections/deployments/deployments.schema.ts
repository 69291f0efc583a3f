import type { ReadTable } from '../engine/projector.ts';

/** Every deployment there ever was; `retired_at` is null while it serves. */
export const deploymentsDdl = (schema: string): string => `
  create table ${schema}.deployments (
    deployment_id text collate "C" primary key,
    tenant_id text collate "C" not null,
    position int8 not null,
    project_id text collate "C" not null,
    task_id text collate "C" not null,
    environment text collate "C" not null,
    artifact_id text not null,
    strategy text not null,
    percent int4 not null,
    replaces text,
    activated_at text not null,
    activated_by text not null,
    retired_at text
  );
  create index on ${schema}.deployments (tenant_id, project_id, task_id, environment, position desc)`;

export const deploymentsTables: readonly ReadTable[] = [{ name: 'deployments', key: ['deployment_id'] }];
