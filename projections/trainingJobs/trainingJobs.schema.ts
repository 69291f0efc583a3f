import type { ReadTable } from '../engine/projector.ts';

/**
 * Training jobs as they stand. `ready_at`: from when on a worker may claim it. `hold_closed`: the hold was
 * released; `credits_charged`: null until the job was charged. `training_documents`: those of its examples; '' for a job that does not say which.
 */
export const trainingJobsDdl = (schema: string): string => `
  create table ${schema}.training_jobs (
    job_id text collate "C" primary key,
    tenant_id text collate "C" not null,
    position int8 not null,
    project_id text collate "C" not null,
    task_id text collate "C" not null,
    name text,
    status text not null,
    attempt int4 not null,
    ready_at text collate "C" not null,
    expires_at text collate "C" not null,
    artifact_id text,
    problem_code text,
    hold_id text collate "C",
    hold_closed boolean not null,
    credits int8 not null,
    credits_charged int8,
    created_at text not null,
    started_at text,
    finished_at text
  );
  create index on ${schema}.training_jobs (tenant_id, position desc);
  create index on ${schema}.training_jobs (ready_at) where finished_at is null;
  create index on ${schema}.training_jobs (hold_id);
  create table ${schema}.training_documents (
    document_id text collate "C" not null,
    job_id text collate "C" not null,
    tenant_id text collate "C" not null,
    primary key (document_id, job_id)
  )`;

export const trainingJobsTables: readonly ReadTable[] = [
  { name: 'training_jobs', key: ['job_id'] },
  { name: 'training_documents', key: ['document_id', 'job_id'] },
];
