import { pick, rowReader } from './engine/table.ts';
import { finding, listing, type Page, paging, telling } from './engine/query.ts';
import { webhookDeliveries, webhooks } from './webhookRows.ts';
import { sortBy } from './engine/sorts.ts';

interface DeliveriesQuery extends Page {
  readonly webhook_id: string;
  readonly now: string;
  readonly status?: string | undefined;
  readonly event?: string | undefined;
}

/** Whether anything may be sent to a webhook again: it was not removed, nor did its receiver say that it is gone. */
const THERE = `w.removed_at is null and w.disabled_reason is distinct from 'gone'`;

/** A delivery that is neither delivered nor tried again has failed. */
const STATUS = `case when d.delivered then 'delivered'
  when d.retry_until > $2 and ${THERE} then 'pending' else 'failed' end`;

const DELIVERIES =
  'from read.webhook_deliveries d join read.webhooks w using (webhook_id) where webhook_id = $1';

const SHOWN = {
  ...pick(webhookDeliveries.columns, 'delivery_id', 'webhook_id', 'tenant_id', 'event_id', 'event_type'),
  ...pick(webhookDeliveries.columns, 'attempts', 'response_status', 'error', 'created_at'),
  ...pick(webhookDeliveries.columns, 'next_attempt_at', 'last_attempt_at', 'delivered_at', 'body'),
  status: 'text',
} as const;

/** Messages sent or to be sent to a webhook, newest first. */
export const deliveriesOfWebhook = paging(
  {
    name: 'deliveries',
    columns: `d.*, ${STATUS} as status`,
    chosen: `${DELIVERIES} and ($3::text is null or ${STATUS} = $3) and ($4::text is null or d.event_type = $4)`,
    order: [
      { by: 'd.position', as: 'int8' },
      { by: 'd.turn', as: 'int8' },
    ],
    sorts: {
      delivery_id: sortBy(webhookDeliveries.columns, 'delivery_id', 'd.'),
      event: sortBy(webhookDeliveries.columns, 'event_type', 'd.'),
      status: { by: `(${STATUS}) collate "C"`, as: 'text' },
      attempts: sortBy(webhookDeliveries.columns, 'attempts', 'd.'),
      response_status: sortBy(webhookDeliveries.columns, 'response_status', 'd.'),
      created_at: sortBy(webhookDeliveries.columns, 'created_at', 'd.'),
      last_attempt_at: sortBy(webhookDeliveries.columns, 'last_attempt_at', 'd.'),
      delivered_at: sortBy(webhookDeliveries.columns, 'delivered_at', 'd.'),
    },
    searched: { columns: ['d.delivery_id', 'd.event_id', 'd.event_type', 'd.error', STATUS] },
  },
  (query: DeliveriesQuery) => [query.webhook_id, query.now, query.status ?? null, query.event ?? null],
  rowReader(SHOWN),
);

/** One of them. */
export const deliveryOfWebhook = finding(
  `select d.*, ${STATUS} as status ${DELIVERIES} and d.delivery_id = $3`,
  (webhookId: string, deliveryId: string, now: string) => [webhookId, now, deliveryId],
  rowReader(SHOWN),
);

/** Webhooks with something to send now, but those that are busy; and whose they are. */
export const webhooksDue = listing(
  `select webhook_id, tenant_id from read.webhooks w
   where enabled and removed_at is null and not (webhook_id = any($2::text[])) and exists (
     select 1 from read.webhook_deliveries d where d.webhook_id = w.webhook_id and not d.delivered
       and d.next_attempt_at <= $1 and d.retry_until > $1)`,
  (now: string, busy: readonly string[]) => [now, busy],
  rowReader(pick(webhooks.columns, 'webhook_id', 'tenant_id')),
);

/**
 * What a webhook may be sent now, the longest due first: of each subject nothing but the first that is not
 * delivered.
 */
export const dueDeliveries = listing(
  `select d.* from read.webhook_deliveries d
   where d.webhook_id = $1 and not d.delivered and d.next_attempt_at <= $2 and d.retry_until > $2
     and not exists (
       select 1 from read.webhook_deliveries b
       where b.webhook_id = d.webhook_id and b.subject = d.subject and not b.delivered and b.retry_until > $2
         and (b.position, b.turn) < (d.position, d.turn))
   order by d.next_attempt_at, d.position, d.turn limit $3`,
  (webhookId: string, now: string, limit: number) => [webhookId, now, limit],
  rowReader(pick(webhookDeliveries.columns, 'delivery_id', 'webhook_id', 'tenant_id', 'body')),
);

/** What waits to be sent: how much, and since when the oldest does (null: nothing waits). */
export const waitingDeliveries = telling(
  `select count(*) as count, min(d.created_at) as oldest_at from read.webhook_deliveries d
   join read.webhooks w using (webhook_id)
   where not d.delivered and d.retry_until > $1 and w.enabled and w.removed_at is null`,
  (now: string) => [now],
  rowReader({ count: 'int8', oldest_at: 'text?' }),
);
