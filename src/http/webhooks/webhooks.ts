import type { z } from 'zod';
import type { Webhook, WebhookSettings } from '../../../domain/webhook.ts';
import { OPERATOR_EVENT_TYPES } from '../../../domain/webhookMessages.ts';
import { receiverUrlFlaw } from '../../commands/webhooks.ts';
import type { ApiDeps } from '../apiDeps.ts';
import type { RouteRequest } from '../defineRoute.ts';
import { problem } from '../problems.ts';
import type { deliveryBody, webhookBody, webhookChangeRequest } from './webhookSchemas.ts';

type WebhookBody = z.input<typeof webhookBody>;
type DeliveryBody = z.input<typeof deliveryBody>;
type Caller = Pick<RouteRequest<unknown, unknown, unknown>, 'caller'>;

const WEBHOOK_ID = /^wh_[A-Za-z0-9-]{1,64}$/;

/** Why a command on a webhook is refused. */
export const WEBHOOK_REJECTIONS = { webhook_not_found: 'There is no such webhook.' } as const;

/** A webhook of the caller's tenant, from the log. 404 for another tenant's: it does not say that there is one. */
export const findWebhook = async (
  { webhooks }: Pick<ApiDeps, 'webhooks'>,
  { caller }: Caller,
  webhookId: string,
): Promise<Webhook> => {
  const webhook = WEBHOOK_ID.test(webhookId) ? await webhooks.find(webhookId) : null;
  if (webhook === null || (caller.role === 'tenant' && webhook.tenant_id !== caller.tenant_id))
    throw problem('webhook_not_found', WEBHOOK_REJECTIONS.webhook_not_found);
  return webhook;
};

/** What a request wants of a webhook. Throws where the receiver, or what it is told, is not for this caller. */
export const settingsIn = (
  { webhookPolicy }: Pick<ApiDeps, 'webhookPolicy'>,
  { caller }: Caller,
  body: Omit<z.output<typeof webhookChangeRequest>, 'enabled'>,
): WebhookSettings => {
  const flaw = receiverUrlFlaw(body.url, webhookPolicy);
  if (flaw !== undefined) throw problem('unsafe_webhook_url', flaw);
  const events = [...new Set(body.events)];
  const forOperators = events.filter((type) => OPERATOR_EVENT_TYPES.some((one) => one === type));
  if (forOperators.length > 0 && caller.role !== 'admin')
    throw problem('admin_required', `Only an admin key may ask for ${forOperators.join(', ')}.`);
  const { url, description = null, low_balance_credits = null } = body;
  return { url, events, description, low_balance_credits };
};

/** A webhook as it is answered. */
export const shownWebhook = (webhook: Webhook, failing_since: string | null): WebhookBody => {
  const { webhook_id, tenant_id, url, events, description, low_balance_credits } = webhook;
  const { enabled, disabled_reason, created_at, updated_at } = webhook;
  return {
    ...{ webhook_id, tenant_id, url, events: [...events], description, low_balance_credits },
    ...{ enabled, disabled_reason, failing_since, created_at, updated_at },
  };
};

/** A webhook that was just made or changed. */
export const webhookOrFail = ({ webhook }: { readonly webhook: Webhook | null }): Webhook => {
  if (webhook === null) throw new Error('a webhook that was written is not in its stream');
  return webhook;
};

type DeliveryRow = Awaited<ReturnType<ApiDeps['queries']['deliveriesOfWebhook']>>['items'][number];

/** A delivery as it is answered. */
export const shownDelivery = (row: DeliveryRow): DeliveryBody => {
  const { delivery_id, webhook_id, event_type: event, event_id, attempts, response_status } = row;
  const { created_at, last_attempt_at, delivered_at } = row;
  const status = row.status as DeliveryBody['status'];
  return {
    ...{ delivery_id, webhook_id, event, event_id, status, attempts, response_status },
    error: row.error as DeliveryBody['error'],
    ...{ created_at, last_attempt_at, delivered_at },
    next_attempt_at: status === 'pending' ? row.next_attempt_at : null,
    payload: JSON.parse(row.body) as Record<string, unknown>,
  };
};
