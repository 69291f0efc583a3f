import { table } from '../engine/table.ts';

/** Batches as they stand. What came of one is null until it has ended. */
export const batches = table({
  name: 'batches',
  key: ['batch_id'],
  columns: {
    batch_id: 'sorted',
    tenant_id: 'sorted',
    position: 'position',
    project_id: 'sorted',
    task_id: 'sorted',
    kind: 'text',
    documents: 'int4',
    begun: 'int4',
    expires_at: 'sorted',
    accepted_at: 'sorted',
    started_at: 'text?',
    cancelled_at: 'text?',
    finished_at: 'text?',
    succeeded: 'int4?',
    partial: 'int4?',
    failed: 'int4?',
    cancelled: 'int4?',
    pages: 'int8?',
    credits_charged: 'int8?',
  },
  indexes: ['(tenant_id, position desc)', '(position) where finished_at is null'],
});

/** Documents of batches by their place in the list. What became of one its operation says, where there is one. */
export const batchDocuments = table({
  name: 'batch_documents',
  key: ['batch_id', 'index'],
  columns: {
    batch_id: 'sorted',
    index: 'int4',
    document_id: 'sorted',
    operation_id: 'sorted',
    begun_at: 'sorted?',
    /** Why no operation came of it. */
    problem_code: 'text?',
  },
});
