import { TOLD_EVENTS, tenantToldOf } from '../../domain/webhook/messages.ts';
import { inserting } from '../engine/apply/bulk.ts';
import { rowReader, wholeOf } from '../engine/apply/columns.ts';
import type { ProjectedEvent } from '../engine/feed/event.ts';
import { only } from '../engine/feed/event.ts';
import type { SqlTx } from '../engine/ports.ts';
import type { Projector } from '../engine/projector.ts';
import type { Table } from '../engine/table.ts';
import { keptWebhookRows, type TouchedRows } from './keptWebhookRows.ts';
import { applyEvent } from './webhookFold.ts';
import { webhookDeliveries, webhookFreePages, webhooks, webhookTerms } from './webhooks.schema.ts';

const readWebhook = rowReader(webhooks.columns);
const readDelivery = rowReader(webhookDeliveries.columns);

const DELIVERY_EVENTS = [
  'WebhookDeliveryStarted',
  'WebhookDeliveryAttempted',
  'WebhookDeliveryResent',
] as const;

const unique = (texts: readonly string[]): readonly string[] => [...new Set(texts)];

/** The rows that these events can touch. */
const load = async (tx: SqlTx, schema: string, events: readonly ProjectedEvent[]): Promise<TouchedRows> => {
  const tenants = unique(events.map(tenantToldOf).filter((tenant) => tenant !== null));
  const found = await tx.query(
    `select * from ${schema}.webhooks where tenant_id = any($1::text[]) or for_operators`,
    [tenants],
  );
  const rows = keptWebhookRows({ webhooks: found.map(readWebhook) });
  const settled = only(events, ...DELIVERY_EVENTS);
  if (settled.length > 0) {
    const ids = unique(settled.map(({ data }) => data.delivery_id));
    const known = `select * from ${schema}.webhook_deliveries where delivery_id = any($1::text[])`;
    for (const row of await tx.query(known, [ids])) rows.knowDelivery(readDelivery(row));
  }
  const burns = only(events, 'CreditsBurned').filter(({ data }) => data.free_pages > 0);
  if (burns.length > 0) {
    const terms = await tx.query(`select pages from ${schema}.webhook_terms`);
    for (const row of terms) rows.knowFreePages(wholeOf(row, 'pages'));
    const used = `select tenant_id, used from ${schema}.webhook_free_pages where tenant_id = any($1::text[])`;
    const readUsed = rowReader(webhookFreePages.columns);
    for (const row of (await tx.query(used, [tenants])).map(readUsed)) rows.knowUsed(row);
  }
  return rows;
};

/** Puts whole rows in the place of those with the same key. */
const replacing = <T extends Table>(into: T) => {
  const insert = inserting(into);
  const [key = ''] = into.key;
  return async (tx: SqlTx, schema: string, rows: Parameters<typeof insert>[2]): Promise<void> => {
    if (rows.length === 0) return;
    const keys = rows.map((row) => String((row as Readonly<Record<string, unknown>>)[key]));
    await tx.query(`delete from ${schema}.${into.name} where ${key} = any($1::text[])`, [keys]);
    await insert(tx, schema, rows);
  };
};

const putWebhooks = replacing(webhooks);
const putDeliveries = replacing(webhookDeliveries);
const putUsed = replacing(webhookFreePages);
const putTerms = replacing(webhookTerms);

/** Webhooks, and what each has been told or is to be told. */
export const webhooksProjector: Projector = {
  name: 'webhooks',
  version: 2,
  eventTypes: [
    ...TOLD_EVENTS,
    'CreditsBurned',
    'BillingConfigPublished',
    'WebhookCreated',
    'WebhookChanged',
    'WebhookSecretRotated',
    'WebhookDisabled',
    'WebhookRemoved',
    ...DELIVERY_EVENTS,
  ],
  tables: [webhooks, webhookDeliveries, webhookFreePages, webhookTerms],
  apply: async (tx, { schema, events }) => {
    const rows = await load(tx, schema, events);
    for (const event of events) applyEvent(rows, event);
    const touched = rows.touched();
    await putWebhooks(tx, schema, touched.webhooks);
    await putDeliveries(tx, schema, touched.deliveries);
    await putUsed(tx, schema, touched.used);
    await putTerms(tx, schema, touched.terms);
  },
};
