import { table } from '../engine/table.ts';

/**
 * Operations as they stand. `ready_at`: from when on a worker may claim it. `hold_closed`: the hold was released;
 * what it cost is null until it was burned.
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
    pages: 'int8',
    status: 'text',
    attempt: 'int4',
    ready_at: 'sorted',
    expires_at: 'sorted',
    problem_code: 'text?',
    hold_id: 'sorted?',
    hold_closed: 'boolean',
    credits_charged: 'int8?',
    free_pages: 'int8?',
    balance_after: 'int8?',
    accepted_at: 'sorted',
    started_at: 'text?',
    finished_at: 'text?',
  },
  indexes: ['(tenant_id, position desc)', '(ready_at) where finished_at is null', '(hold_id)', '(work_id)'],
});
