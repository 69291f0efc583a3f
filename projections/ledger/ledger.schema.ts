import { table } from '../engine/table.ts';

/** Rows of a tenant that one row of `ledger_blocks` counts at most. */
export const BLOCK_ROWS = 4096;

/** Every posting. `ordinal` numbers a tenant's rows from 0; `balance_after` of the newest is the balance. */
export const ledger = table({
  name: 'ledger',
  key: ['tenant_id', 'ordinal'],
  columns: {
    tenant_id: 'sorted',
    ordinal: 'int8',
    position: 'position',
    part: 'int2',
    id: 'text',
    kind: 'text',
    operation: 'text?',
    category: 'text?',
    extraction_mode: 'text?',
    billing_type: 'text?',
    pages: 'int8',
    free_pages: 'int8',
    credits_per_page: 'int8?',
    credits_delta: 'int8',
    balance_after: 'int8',
    billing_config_version: 'int4?',
    project_id: 'text?',
    task_id: 'text?',
    document_id: 'text?',
    job_id: 'text?',
    api_key_id: 'text?',
    details: 'jsonb?',
    created_at: 'text',
  },
});

/**
 * Counts each block of `BLOCK_ROWS` ordinals by kind and operation, with the first and last ordinal and time:
 * totals, date ranges and deep offsets need no scan.
 */
export const ledgerBlocks = table({
  name: 'ledger_blocks',
  key: ['tenant_id', 'block', 'kind', 'operation'],
  columns: {
    tenant_id: 'sorted',
    block: 'int4',
    kind: 'sorted',
    operation: 'sorted',
    rows: 'int8 add',
    first_ordinal: 'int8',
    last_ordinal: 'int8 replace',
    first_created_at: 'sorted least',
    last_created_at: 'sorted greatest',
  },
  fillfactor: 50,
});
