import { table } from '../engine/table.ts';

/** Terms by version. A published config sets all rates. */
export const billingConfigs = table({
  name: 'billing_configs',
  key: ['version'],
  columns: {
    version: 'int4',
    terms: 'jsonb?',
    all_rates: 'boolean',
    note: 'text?',
    created_at: 'text',
    created_by: 'text',
  },
});

/**
 * The rates that each version set. A rate is in force from its version until the next version that sets the
 * same operation, mode and type.
 */
export const billingRates = table({
  name: 'billing_rates',
  key: ['version', 'operation', 'extraction_mode', 'billing_type'],
  columns: {
    version: 'int4',
    operation: 'sorted',
    extraction_mode: 'sorted',
    billing_type: 'sorted',
    credits_per_page: 'int8',
    effective_at: 'text',
  },
});
