import { table } from '../engine/table.ts';
import { QUEUE_INDEXES } from '../queue/queueLists.ts';

/**
 * Operations as they stand. `ready_at`: from when on a worker may claim it, or until when its lease is. What it cost
 * is null until it was burned.
 */
export const operations = table({
  name: 'operations',
  key: ['operation_id'],
  columns: {
    operation_id: 'sorted',
    tenant_id: 'sorted',
    position: 'position',
    project_id: 'sorted',
    task_id: 'sorted',
    kind: 'text',
    work_id: 'sorted',
    document_id: 'sorted',
    /** Of a file that came with the request; 0 for uploads, and for operations of older releases. */
    file_bytes: 'int8',
    pages: 'int8',
    status: 'text',
    attempt: 'int4',
    ready_at: 'sorted',
    expires_at: 'sorted',
    problem_code: 'text?',
    hold_id: 'sorted?',
    /** Always false: replicas of the release before still name it (ADR 17). */
    hold_closed: 'boolean',
    credits_charged: 'int8?',
    free_pages: 'int8?',
    balance_after: 'int8?',
    charged_at: 'text?',
    accepted_at: 'sorted',
    started_at: 'text?',
    finished_at: 'text?',
  },
  indexes: ['(tenant_id, position desc)', '(work_id)', ...QUEUE_INDEXES],
});
