import { table } from '../engine/table.ts';

/**
 * One row a tenant. `balance_credits` = purchased (net of refunds) + adjusted − used; available is
 * balance − held.
 */
export const balances = table({
  name: 'balances',
  key: ['tenant_id'],
  columns: {
    tenant_id: 'sorted',
    plan: 'text? replace',
    balance_credits: 'int8 add',
    held_credits: 'int8 add',
    purchased_credits: 'int8 add',
    used_credits: 'int8 add',
    adjusted_credits: 'int8 add',
    free_pages_used: 'int8 add',
    free_pages_held: 'int8 add',
    grants_count: 'int8 add',
    created_at: 'text',
    last_activity_at: 'text replace',
  },
  fillfactor: 50,
});

/** Holds that are neither settled nor released. */
export const openHolds = table({
  name: 'open_holds',
  key: ['tenant_id', 'hold_id'],
  columns: {
    tenant_id: 'sorted',
    hold_id: 'sorted',
    /** The work that it is for. */
    operation_id: 'sorted',
    operation: 'text',
    credits: 'int8',
    free_pages: 'int8',
    created_at: 'text',
    expires_at: 'text',
  },
});
