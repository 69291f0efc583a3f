import { table } from '../engine/table.ts';
import { QUEUE_INDEXES } from '../queue/queueLists.ts';

/**
 * Training jobs as they stand. `ready_at`: from when on a worker may claim it, or until when its lease is.
 * `credits_charged`: null until the job was charged.
 */
export const trainingJobs = table({
  name: 'training_jobs',
  key: ['job_id'],
  columns: {
    job_id: 'sorted',
    tenant_id: 'sorted',
    position: 'position',
    project_id: 'sorted',
    task_id: 'sorted',
    name: 'text?',
    status: 'text',
    attempt: 'int4',
    ready_at: 'sorted',
    expires_at: 'sorted',
    artifact_id: 'text?',
    problem_code: 'text?',
    hold_id: 'sorted?',
    /** Always false: replicas of the release before still name it (ADR 17). */
    hold_closed: 'boolean',
    credits: 'int8',
    credits_charged: 'int8?',
    created_at: 'text',
    started_at: 'text?',
    finished_at: 'text?',
  },
  indexes: ['(tenant_id, position desc)', ...QUEUE_INDEXES],
});

/** The documents of a job's examples: which uploads must be kept; '' for a job that does not say which. */
export const trainingDocuments = table({
  name: 'training_documents',
  key: ['document_id', 'job_id'],
  columns: { document_id: 'sorted', job_id: 'sorted', tenant_id: 'sorted' },
});
