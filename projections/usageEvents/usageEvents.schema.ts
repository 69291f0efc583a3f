import { table } from '../engine/table.ts';

/** Measured work, one row an extraction or conversion. The ledger has what it was billed. */
export const usageEvents = table({
  name: 'usage_events',
  key: ['id'],
  columns: {
    id: 'sorted',
    kind: 'text',
    tenant_id: 'sorted',
    position: 'position',
    project_id: 'text',
    task_id: 'text',
    document_id: 'text',
    document_sha256: 'text',
    mode: 'text',
    billing_type: 'text',
    model: 'text',
    ocr_model: 'text?',
    pages: 'int8',
    free_pages: 'int8?',
    hold_id: 'text?',
    api_key_id: 'text',
    state: 'text',
    problem_code: 'text?',
    duration_ms: 'int8?',
    requested_at: 'text',
    finished_at: 'text?',
  },
  indexes: ['(tenant_id, position desc)', '(document_id)', `(requested_at) where state = 'running'`],
  fillfactor: 80,
});

/** Extractions and conversions that were burned and whose usage event is missing. */
export const unrecordedWork = table({
  name: 'unrecorded_work',
  key: ['operation_id'],
  columns: {
    operation_id: 'sorted',
    operation: 'text',
    tenant_id: 'sorted',
    pages: 'int8',
    free_pages: 'int8',
    status: 'text',
    duration_ms: 'int8',
    burned_at: 'sorted',
  },
  indexes: ['(burned_at)'],
});
