import { table } from '../engine/table.ts';

/**
 * Webhooks as they stand. `events`: types, with a space between. `failing_since`: null while the last attempt went
 * well.
 */
export const webhooks = table({
  name: 'webhooks',
  key: ['webhook_id'],
  columns: {
    webhook_id: 'sorted',
    tenant_id: 'sorted',
    position: 'position',
    url: 'text',
    events: 'text',
    /** Of these some are for operators: such a webhook is told whatever tenant they are about. */
    for_operators: 'boolean',
    description: 'text?',
    low_balance_credits: 'int8?',
    enabled: 'boolean',
    disabled_reason: 'text?',
    failing_since: 'text?',
    created_at: 'sorted',
    updated_at: 'text',
    removed_at: 'text?',
  },
  indexes: ['(tenant_id, position desc)', '(webhook_id) where for_operators'],
});

/**
 * One message for one webhook. `subject`: the stream that it is about, whose messages are sent in the order of
 * `position`. `retry_until`: what is pending after that has failed.
 */
export const webhookDeliveries = table({
  name: 'webhook_deliveries',
  key: ['delivery_id'],
  columns: {
    delivery_id: 'sorted',
    webhook_id: 'sorted',
    tenant_id: 'sorted',
    position: 'position',
    /** Orders the messages of one event. */
    turn: 'int4',
    event_id: 'text',
    event_type: 'text',
    subject: 'sorted',
    body: 'text',
    delivered: 'boolean',
    attempts: 'int4',
    response_status: 'int4?',
    error: 'text?',
    created_at: 'sorted',
    next_attempt_at: 'sorted',
    retry_until: 'sorted',
    last_attempt_at: 'text?',
    delivered_at: 'text?',
  },
  indexes: [
    '(webhook_id, position desc, turn desc)',
    '(webhook_id, next_attempt_at) where not delivered',
    '(webhook_id, subject, position, turn) where not delivered',
  ],
});

/** Free pages that each tenant has used: it is told once when there are no more. */
export const webhookFreePages = table({
  name: 'webhook_free_pages',
  key: ['tenant_id'],
  columns: { tenant_id: 'sorted', used: 'int8' },
});

/** How many pages are free for each tenant now: one row, `free_pages`. */
export const webhookTerms = table({
  name: 'webhook_terms',
  key: ['term'],
  columns: { term: 'sorted', pages: 'int8' },
});
