import {
  balanceMessages,
  bodyOf,
  messageOf,
  tenantToldOf,
  type Message,
} from '../../domain/webhook/messages.ts';
import { ALL_TENANT_EVENTS, OPERATOR_EVENT_TYPES } from '../../domain/webhook/payloads.ts';
import { deliveryIdOf } from '../../domain/webhookDelivery/decider.ts';
import { triedUntil } from '../../domain/webhookDelivery/schedule.ts';
import type { ProjectedEvent, ProjectedEventOf } from '../engine/feed/event.ts';
import type { Row } from '../engine/table.ts';
import type { webhookDeliveries, webhooks } from './webhooks.schema.ts';

export type WebhookRow = Row<typeof webhooks>;
export type DeliveryRow = Row<typeof webhookDeliveries>;

/** The rows that a fold reads and changes: all there are, or those that its events can touch. */
export interface WebhookRows {
  readonly webhook: (webhookId: string) => WebhookRow | undefined;
  readonly putWebhook: (row: WebhookRow) => void;
  /** Those of a tenant, removed ones too. */
  readonly ofTenant: (tenantId: string) => Iterable<WebhookRow>;
  /** Those that ask for something that only operators are told, removed ones too. */
  readonly forOperators: () => Iterable<WebhookRow>;
  readonly delivery: (deliveryId: string) => DeliveryRow | undefined;
  readonly putDelivery: (row: DeliveryRow) => void;
  readonly freePagesUsed: (tenantId: string) => number;
  readonly putFreePagesUsed: (tenantId: string, used: number) => void;
  readonly freePages: () => number;
  readonly putFreePages: (pages: number) => void;
}

type WebhookEvent = ProjectedEventOf<
  'WebhookCreated' | 'WebhookChanged' | 'WebhookSecretRotated' | 'WebhookDisabled' | 'WebhookRemoved'
>;

const settingsOf = ({ data }: ProjectedEventOf<'WebhookCreated' | 'WebhookChanged'>) => ({
  url: data.url,
  events: data.events.join(' '),
  for_operators: data.events.some((type) => OPERATOR_EVENT_TYPES.some((one) => one === type)),
  description: data.description,
  low_balance_credits: data.low_balance_credits,
});

const createdRow = (event: ProjectedEventOf<'WebhookCreated'>): WebhookRow => {
  const { webhook_id, tenant_id, created_at } = event.data;
  return {
    ...settingsOf(event),
    ...{ webhook_id, tenant_id, position: event.position, created_at, updated_at: created_at },
    ...{ enabled: true, disabled_reason: null, failing_since: null, removed_at: null },
  };
};

const changedRow = (
  row: WebhookRow,
  event: Exclude<WebhookEvent, { type: 'WebhookCreated' }>,
): WebhookRow => {
  switch (event.type) {
    case 'WebhookChanged': {
      const { enabled, changed_at: updated_at } = event.data;
      // Three days of failing count from when it is enabled again, or told elsewhere.
      const isNew = event.data.url !== row.url || (enabled && !row.enabled);
      const failing_since = isNew ? null : row.failing_since;
      return { ...row, ...settingsOf(event), enabled, failing_since, disabled_reason: null, updated_at };
    }
    case 'WebhookSecretRotated':
      return { ...row, updated_at: event.data.rotated_at };
    case 'WebhookDisabled': {
      const { reason: disabled_reason, disabled_at: updated_at } = event.data;
      return { ...row, enabled: false, disabled_reason, updated_at };
    }
    case 'WebhookRemoved':
      return { ...row, removed_at: event.data.removed_at };
  }
};

const applyWebhook = (rows: WebhookRows, event: WebhookEvent): void => {
  if (event.type === 'WebhookCreated') {
    rows.putWebhook(createdRow(event));
    return;
  }
  const row = rows.webhook(event.data.webhook_id);
  if (row !== undefined) rows.putWebhook(changedRow(row, event));
};

const applyStart = (rows: WebhookRows, { data }: ProjectedEventOf<'WebhookDeliveryStarted'>): void => {
  const row = rows.delivery(data.delivery_id);
  if (row !== undefined) rows.putDelivery({ ...row, attempts: data.attempt });
};

/** Another attempt was started since, or delivered it: the failure of this one settles nothing. */
const isOvertaken = ({ delivered, attempts }: DeliveryRow, attempt: number): boolean =>
  delivered || attempt < attempts;

type Attempted = ProjectedEventOf<'WebhookDeliveryAttempted'>;

/** Since when nothing arrives, after one attempt more. */
const applyFailing = (rows: WebhookRows, { data: { webhook_id, error, attempted_at } }: Attempted): void => {
  const webhook = rows.webhook(webhook_id);
  const failing_since = error === null ? null : (webhook?.failing_since ?? attempted_at);
  if (webhook !== undefined && webhook.failing_since !== failing_since)
    rows.putWebhook({ ...webhook, failing_since });
};

const applyAttempt = (rows: WebhookRows, { data }: Attempted): void => {
  const { delivery_id, attempt, error, response_status, attempted_at } = data;
  const row = rows.delivery(delivery_id);
  if (row === undefined || (error !== null && isOvertaken(row, attempt))) return;
  const delivered = error === null;
  const attempts = Math.max(row.attempts, attempt);
  rows.putDelivery({
    ...row,
    ...{ attempts, error, response_status, delivered, last_attempt_at: attempted_at },
    delivered_at: delivered ? attempted_at : row.delivered_at,
    next_attempt_at: data.next_attempt_at ?? row.next_attempt_at,
  });
};

/** What is sent again goes to the end of its subject: nothing that came later waits for it. */
const applyResent = (
  rows: WebhookRows,
  { data, position }: ProjectedEventOf<'WebhookDeliveryResent'>,
): void => {
  const row = rows.delivery(data.delivery_id);
  if (row === undefined) return;
  const at = data.resent_at;
  rows.putDelivery({ ...row, position, delivered: false, next_attempt_at: at, retry_until: triedUntil(at) });
};

/** `*` is everything about a tenant; what operators are told is asked for by name. */
const isWanted = ({ enabled, removed_at, events }: WebhookRow, type: Message['type']): boolean => {
  if (!enabled || removed_at !== null) return false;
  const wanted = events.split(' ');
  return (
    wanted.includes(type) || (wanted.includes(ALL_TENANT_EVENTS) && !OPERATOR_EVENT_TYPES.includes(type))
  );
};

/** Of the command that made it: the same at each rebuild. */
const recordedAt = ({ metadata, id }: ProjectedEvent): string => {
  const at = metadata['recorded_at'];
  if (typeof at !== 'string') throw new Error(`event ${id} does not say when it was recorded`);
  return at;
};

/** Told to one webhook: the row has all that it takes to send it, at whatever time. */
const deliver = (
  rows: WebhookRows,
  { event, webhook }: { readonly event: ProjectedEvent; readonly webhook: WebhookRow },
  { message, turn }: { readonly message: Message; readonly turn: number },
): void => {
  const { webhook_id, tenant_id } = webhook;
  const { id: event_id, position, stream: subject } = event;
  const created_at = recordedAt(event);
  rows.putDelivery({
    ...{ delivery_id: deliveryIdOf(event_id, webhook_id, message.type), webhook_id, tenant_id },
    ...{ position, turn, event_id, event_type: message.type, subject },
    body: bodyOf(message, { at: created_at, tenant_id: tenantToldOf(event) }),
    ...{ delivered: false, attempts: 0, response_status: null, error: null },
    ...{ created_at, next_attempt_at: created_at, retry_until: triedUntil(created_at) },
    ...{ last_attempt_at: null, delivered_at: null },
  });
};

/** Counts free pages; the message, if these were the last. */
const freePagesMessages = (rows: WebhookRows, event: ProjectedEvent): readonly Message[] => {
  if (event.type !== 'CreditsBurned' || event.data.free_pages === 0) return [];
  const tenant = tenantToldOf(event) ?? '';
  const before = rows.freePagesUsed(tenant);
  const after = before + event.data.free_pages;
  rows.putFreePagesUsed(tenant, after);
  const free_pages = rows.freePages();
  return before < free_pages && after >= free_pages
    ? [{ type: 'free_pages.used_up', data: { free_pages } }]
    : [];
};

const tell = (rows: WebhookRows, event: ProjectedEvent): void => {
  const own = messageOf(event);
  const free = freePagesMessages(rows, event);
  const forOperators = own !== undefined && OPERATOR_EVENT_TYPES.includes(own.type);
  const tenant = tenantToldOf(event);
  const candidates = forOperators ? rows.forOperators() : tenant === null ? [] : rows.ofTenant(tenant);
  for (const webhook of [...candidates]) {
    const balance = balanceMessages(event, webhook.low_balance_credits);
    const messages = [...(own === undefined ? [] : [own]), ...balance, ...free];
    for (const [turn, message] of messages.entries())
      if (isWanted(webhook, message.type)) deliver(rows, { event, webhook }, { message, turn });
  }
};

/** What one event changes. */
export const applyEvent = (rows: WebhookRows, event: ProjectedEvent): void => {
  switch (event.type) {
    case 'WebhookCreated':
    case 'WebhookChanged':
    case 'WebhookSecretRotated':
    case 'WebhookDisabled':
    case 'WebhookRemoved':
      applyWebhook(rows, event);
      return;
    case 'WebhookDeliveryStarted':
      applyStart(rows, event);
      return;
    case 'WebhookDeliveryAttempted':
      applyFailing(rows, event);
      applyAttempt(rows, event);
      return;
    case 'WebhookDeliveryResent':
      applyResent(rows, event);
      return;
    case 'BillingConfigPublished':
      rows.putFreePages(event.data.terms.free_pages);
      return;
    default:
      tell(rows, event);
  }
};
