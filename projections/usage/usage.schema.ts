import { table } from '../engine/table.ts';

/**
 * What was consumed by UTC day. `credits` is what left the balance: a gift
 * counts below zero. `operations` counts an operation once, also where it has two ledger rows.
 */
export const usageDays = table({
  name: 'usage_days',
  key: ['day', 'tenant_id', 'kind', 'operation', 'category', 'extraction_mode', 'billing_type', 'task_id'],
  columns: {
    day: 'sorted',
    tenant_id: 'sorted',
    kind: 'sorted',
    operation: 'sorted',
    category: 'sorted',
    extraction_mode: 'sorted',
    billing_type: 'sorted',
    task_id: 'sorted',
    operations: 'int8 add',
    pages: 'int8 add',
    free_pages: 'int8 add',
    credits: 'int8 add',
  },
  indexes: ['(tenant_id, day)'],
  fillfactor: 50,
});

/** What was consumed by document. */
export const usageDocuments = table({
  name: 'usage_documents',
  key: ['tenant_id', 'document_id'],
  columns: {
    tenant_id: 'sorted',
    document_id: 'sorted',
    task_id: 'sorted replace',
    operations: 'int8 add',
    pages: 'int8 add',
    credits: 'int8 add',
    last_used_at: 'text replace',
    last_position: 'position replace',
  },
  indexes: ['(last_position desc)'],
  fillfactor: 80,
});
