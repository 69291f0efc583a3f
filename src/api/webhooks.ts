import type { Clock } from '../../domain/ports/log.ts';
import type { Queries, ReadYourWrites } from '../queries/queries.ts';
import { z } from 'zod';
import { ALL_TENANT_EVENTS, ASKED_EVENT_TYPES, OPERATOR_EVENT_TYPES } from '../../domain/webhookMessages.ts';
import { attemptError, lowBalanceLevels, type Webhook, type WebhookSettings } from '../../domain/webhook.ts';
import {
  instantOut,
  pageFacts,
  pageOf,
  listQuery,
  plainText,
  tenantIdText,
  checkKnown,
} from './schemas/basics.ts';
import { receiverUrlFlaw, type Webhooks, type ReceiverPolicy } from '../commands/webhooks.ts';
import { type AnyRequest, routesOver } from '../server/routes.ts';
import { invalid, problem, neverRejected, workFailure } from '../server/problems.ts';
import { settleReads } from '../server/answers.ts';
import { webhooksOfTenant } from '../../projections/webhooks.ts';
import { deliveriesOfWebhook } from '../../projections/deliveries.ts';

/** What these routes need. */
export interface WebhooksDeps {
  readonly queries: Pick<
    Queries,
    'balanceOfTenant' | 'deliveriesOfWebhook' | 'deliveryOfWebhook' | 'failingSince' | 'webhooksOfTenant'
  >;
  readonly reads: ReadYourWrites;
  readonly webhooks: Webhooks;
  /** Where receivers may be. */
  readonly webhookPolicy: ReceiverPolicy;
  readonly clock: Clock;
}

const { get, post, put, remove } = routesOver<WebhooksDeps>();

const eventType = z.enum([ALL_TENANT_EVENTS, ...ASKED_EVENT_TYPES]);

/** No line breaks and no other control characters: a parser of URLs passes over some of them in silence. */
const SHOWN = /^[ -~\u00a0-\u2027\u202a-\uffff]*$/;

/** Most levels of one webhook. */
const LEVELS_MAX = 10;

const settings = {
  url: z
    .string()
    .min(1)
    .max(2048)
    .regex(SHOWN, 'Must not contain line breaks or other control characters.')
    .meta({
      description: 'An https URL at a public address. It is kept in the event log, so put no secret into it.',
    }),
  events: z
    .array(eventType)
    .min(1)
    .max(ASKED_EVENT_TYPES.length + 1)
    .meta({
      description:
        'Events to send. `*` is everything about the tenant, including types that later releases add.',
    }),
  description: plainText(1, 500).nullish().meta({ description: 'A note for people.' }),
  low_balance_credits: z.int().min(0).max(Number.MAX_SAFE_INTEGER).nullish().meta({
    description: '`balance.low` is sent each time the balance falls below this; null: never.',
  }),
  low_balance_at: z
    .array(z.int().min(0).max(Number.MAX_SAFE_INTEGER))
    .min(1)
    .max(LEVELS_MAX)
    .refine((levels) => new Set(levels).size === levels.length, { error: 'Name each level once.' })
    .optional()
    .meta({
      description:
        'Instead of `low_balance_credits`: several levels. `balance.low` is sent each time the balance falls below ' +
        'one of them; if it falls below several at once, for the lowest.',
    }),
};

const webhookCreateRequest = z
  .strictObject({ tenant_id: tenantIdText, ...settings })
  .meta({ id: 'WebhookCreateRequest' });

const webhookChangeRequest = z
  .strictObject({
    ...settings,
    enabled: z.boolean().default(true).meta({ description: 'Whether messages are sent to it.' }),
  })
  .meta({ id: 'WebhookChangeRequest' });

const facts = {
  webhook_id: z.string(),
  tenant_id: z.string(),
  url: z.string(),
  events: z.array(z.string()),
  description: z.string().nullable(),
  low_balance_credits: z.int().nullable(),
  low_balance_at: z.array(z.int()).meta({ description: 'Every level at which it is told of a low balance.' }),
  enabled: z.boolean(),
  disabled_reason: z
    .enum(['failing', 'gone'])
    .nullable()
    .meta({ description: '`failing`: nothing arrived for three days. `gone`: the receiver answered 410.' }),
  failing_since: instantOut.nullable().meta({
    description: 'First failed attempt since the last successful one; null while all is well.',
  }),
  created_at: instantOut,
  updated_at: instantOut,
};

const webhookBody = z.strictObject(facts).meta({ id: 'Webhook' });

const secret = z.string().meta({ description: 'Verifies signatures: `whsec_…`. Shown only once.' });

const createdWebhook = z.strictObject({ ...facts, secret }).meta({ id: 'CreatedWebhook' });

const webhookParams = z.object({ webhook_id: plainText(1, 128) });

const webhooksQuery = z.object({ tenant_id: tenantIdText, ...listQuery(webhooksOfTenant) });

const rotateSecretRequest = z
  .strictObject({
    keep_old_seconds: z
      .int()
      .min(0)
      .max(604_800)
      .default(86_400)
      .meta({ description: 'How long the old secret still signs too, in seconds.' }),
  })
  .meta({ id: 'WebhookSecretRotateRequest' });

const rotatedSecret = z
  .strictObject({
    webhook_id: z.string(),
    secret,
    old_secret_until: instantOut.meta({
      description: 'Until then each message is signed with both secrets.',
    }),
  })
  .meta({ id: 'RotatedWebhookSecret' });

const deliveryStatus = z.enum(['pending', 'delivered', 'failed']).meta({
  description:
    '`failed`: it was not delivered within three days, or its receiver answered 410, so it is not tried again. If ' +
    'the webhook is enabled again within the three days, it is sent after all.',
});

const deliveriesQuery = z.object({
  status: deliveryStatus.optional(),
  event: plainText(1, 64).optional().meta({ description: 'Type of event.' }),
  ...listQuery(deliveriesOfWebhook),
});

const deliveryParams = z.object({
  webhook_id: plainText(1, 128),
  delivery_id: plainText(1, 128),
});

const deliveryBody = z
  .strictObject({
    delivery_id: z.string().meta({ description: 'Sent as `webhook-id`; repeats have the same one.' }),
    webhook_id: z.string(),
    event: z.string().meta({ description: 'Type of event.' }),
    event_id: z.string().meta({ description: 'ID of the event in the log that it reports.' }),
    status: deliveryStatus,
    attempts: z.int().meta({ description: 'Number of requests begun so far.' }),
    response_status: z.int().nullable().meta({
      description: 'Status of the last answer; null if there was none.',
    }),
    error: attemptError.nullable().meta({
      description: 'Why the last attempt failed; null if it did not fail, or there was none.',
    }),
    created_at: instantOut,
    last_attempt_at: instantOut.nullable(),
    next_attempt_at: instantOut
      .nullable()
      .meta({ description: 'Time of the next attempt; null unless it is pending.' }),
    delivered_at: instantOut.nullable(),
    payload: z.record(z.string(), z.unknown()).meta({ description: 'The body that the receiver gets.' }),
  })
  .meta({ id: 'WebhookDelivery' });

type WebhookBody = z.input<typeof webhookBody>;
type DeliveryBody = z.input<typeof deliveryBody>;
type Caller = Pick<AnyRequest, 'caller'>;

const WEBHOOK_ID = /^wh_[A-Za-z0-9-]{1,64}$/;

/** Why a command on a webhook is refused. */
const WEBHOOK_REJECTIONS = {
  webhook_not_found: 'There is no such webhook.',
  webhook_disabled: neverRejected,
} as const;

/** A webhook of the caller's tenant, from the log. 404 for another tenant's: it does not say that there is one. */
const findWebhook = async (
  { webhooks }: Pick<WebhooksDeps, 'webhooks'>,
  { caller }: Caller,
  webhookId: string,
): Promise<Webhook> => {
  const webhook = WEBHOOK_ID.test(webhookId) ? await webhooks.find(webhookId) : null;
  if (webhook === null || (caller.role === 'tenant' && webhook.tenant_id !== caller.tenant_id))
    throw problem('webhook_not_found', WEBHOOK_REJECTIONS.webhook_not_found);
  return webhook;
};

/** A request's settings of a webhook. Throws if the receiver, or an event, is not for this caller. */
const settingsIn = (
  { webhookPolicy }: Pick<WebhooksDeps, 'webhookPolicy'>,
  { caller }: Caller,
  body: Omit<z.output<typeof webhookChangeRequest>, 'enabled'>,
): WebhookSettings => {
  const flaw = receiverUrlFlaw(body.url, webhookPolicy);
  if (flaw !== undefined) throw problem('unsafe_webhook_url', flaw);
  const events = [...new Set(body.events)];
  const forOperators = events.filter((type) => OPERATOR_EVENT_TYPES.some((one) => one === type));
  if (forOperators.length > 0 && caller.role !== 'admin')
    throw problem('admin_required', `Only an admin key may ask for ${forOperators.join(', ')}.`);
  const { url, description = null, low_balance_credits = null, low_balance_at } = body;
  if (low_balance_credits !== null && low_balance_at !== undefined)
    throw invalid({
      loc: ['body', 'low_balance_at'],
      msg: 'Send low_balance_credits or low_balance_at, not both.',
      type: 'value_error',
    });
  const levels = low_balance_at === undefined ? {} : { low_balance_at };
  return { url, events, description, low_balance_credits, ...levels };
};

/** A webhook as it is answered. */
const shownWebhook = (webhook: Webhook, failing_since: string | null): WebhookBody => {
  const { webhook_id, tenant_id, url, events, description, low_balance_credits } = webhook;
  const { enabled, disabled_reason, created_at, updated_at } = webhook;
  return {
    webhook_id,
    tenant_id,
    url,
    events: [...events],
    description,
    low_balance_credits,
    low_balance_at: [...lowBalanceLevels(webhook)],
    enabled,
    disabled_reason,
    failing_since,
    created_at,
    updated_at,
  };
};

/** A webhook that was just made or changed. */
const webhookOrFail = ({ webhook }: { readonly webhook: Webhook | null }): Webhook => {
  if (webhook === null) throw new Error('a webhook that was written is not in its stream');
  return webhook;
};

type DeliveryRow = Awaited<ReturnType<WebhooksDeps['queries']['deliveriesOfWebhook']>>['items'][number];

/** A delivery as it is answered. */
const shownDelivery = (row: DeliveryRow): DeliveryBody => {
  const { delivery_id, webhook_id, event_type: event, event_id, attempts, response_status } = row;
  const { created_at, last_attempt_at, delivered_at } = row;
  const status = row.status as DeliveryBody['status'];
  return {
    delivery_id,
    webhook_id,
    event,
    event_id,
    status,
    attempts,
    response_status,
    error: row.error as DeliveryBody['error'],
    created_at,
    last_attempt_at,
    delivered_at,
    next_attempt_at: status === 'pending' ? row.next_attempt_at : null,
    payload: JSON.parse(row.body) as Record<string, unknown>,
  };
};

export const changeWebhook = put(
  '/v1/webhooks/{webhook_id}',
  {
    summary: 'Change, disable or enable a webhook',
    description:
      'All settings are replaced. Waiting messages are sent to the new URL. While the webhook is disabled, no new ' +
      'messages are kept for it.',
    access: 'any',
    params: webhookParams,
    body: webhookChangeRequest,
    reply: { status: 200, schema: webhookBody },
    problems: ['webhook_not_found', 'admin_required', 'unsafe_webhook_url', 'busy'],
  },
  async ({ params, body, caller, meta, doneOr }, deps) => {
    const { enabled, ...wanted } = body;
    const webhook = await findWebhook(deps, { caller }, params.webhook_id);
    const settings = { ...settingsIn(deps, { caller }, wanted), enabled };
    const { state, position } = doneOr(
      await deps.webhooks.change(webhook, settings, meta),
      WEBHOOK_REJECTIONS,
    );
    deps.reads.note(webhook.tenant_id, position);
    await deps.reads.settle(webhook.tenant_id);
    const row = await deps.queries.failingSince(webhook.webhook_id);
    return shownWebhook(webhookOrFail(state), row?.failing_since ?? null);
  },
);

export const createWebhook = post(
  '/v1/webhooks',
  {
    summary: 'Create a webhook: get messages about what happens',
    description:
      'Messages are signed as Standard Webhooks specifies. Only this answer contains the secret. Messages are sent ' +
      'for events from now on.',
    access: 'any',
    tenant: 'body',
    serviceActsForAll: true,
    body: webhookCreateRequest,
    reply: { status: 201, schema: createdWebhook },
    problems: [
      'admin_required',
      'unsafe_webhook_url',
      'too_many_webhooks',
      'field_encryption_not_configured',
      'webhook_not_found',
      'storage_error',
      'busy',
    ],
    reads: 'tenant',
  },
  async ({ body, caller, meta, doneOr }, deps) => {
    const { tenant_id, ...wanted } = body;
    const settings = settingsIn(deps, { caller }, wanted);
    const made = await deps.webhooks.create(tenant_id, settings, meta);
    if (made.kind === 'problem') throw workFailure(made);
    const { state, position } = doneOr(made.outcome, WEBHOOK_REJECTIONS);
    deps.reads.note(tenant_id, position);
    return { ...shownWebhook(webhookOrFail(state), null), secret: made.secret };
  },
);

export const getWebhook = get(
  '/v1/webhooks/{webhook_id}',
  {
    summary: 'A webhook, and whether it works',
    description:
      '`failing_since` says since when nothing arrives; `disabled_reason` says why nothing is sent any more.',
    access: 'any',
    params: webhookParams,
    reply: { status: 200, schema: webhookBody },
    problems: ['webhook_not_found'],
  },
  async (request, deps) => {
    const webhook = await findWebhook(deps, request, request.params.webhook_id);
    await settleReads(deps.reads, request, webhook.tenant_id);
    const row = await deps.queries.failingSince(webhook.webhook_id);
    return shownWebhook(webhook, row?.failing_since ?? null);
  },
);

export const listWebhookDeliveries = get(
  '/v1/webhooks/{webhook_id}/deliveries',
  {
    summary: 'The messages of a webhook, newest first',
    description: 'Messages that wait, were delivered or were given up, each with its last attempt.',
    access: 'any',
    params: webhookParams,
    query: deliveriesQuery,
    reply: { status: 200, schema: pageOf(deliveryBody, 'WebhookDeliveryList') },
    problems: ['webhook_not_found'],
  },
  async (request, deps) => {
    const { webhook_id, tenant_id } = await findWebhook(deps, request, request.params.webhook_id);
    await settleReads(deps.reads, request, tenant_id);
    const asked = { ...request.query, webhook_id, now: deps.clock.now() };
    const found = await deps.queries.deliveriesOfWebhook(asked);
    return { items: found.items.map(shownDelivery), ...pageFacts(request.query, found) };
  },
);

export const listWebhooks = get(
  '/v1/webhooks',
  {
    summary: 'The webhooks of a tenant, newest first',
    description: 'Removed webhooks are not listed, and secrets are never shown again.',
    access: 'any',
    tenant: 'query',
    serviceActsForAll: true,
    query: webhooksQuery,
    reply: { status: 200, schema: pageOf(webhookBody, 'WebhookList') },
    problems: ['tenant_not_found'],
    reads: 'tenant',
  },
  async ({ query }, { queries }) => {
    const { tenant_id } = query;
    const found = await queries.webhooksOfTenant(query);
    await checkKnown({ queries }, tenant_id, { isEmpty: found.total === 0 });
    const shown = found.items.map(({ events, disabled_reason, ...row }) => ({
      ...row,
      events: events.split(' '),
      disabled_reason: disabled_reason as 'failing' | 'gone' | null,
    }));
    return { items: shown, ...pageFacts(query, found) };
  },
);

export const removeWebhook = remove(
  '/v1/webhooks/{webhook_id}',
  {
    summary: 'Remove a webhook',
    description: 'This is final: its secret is removed, and waiting messages are not sent.',
    access: 'any',
    params: webhookParams,
    reply: { status: 204 },
    problems: ['webhook_not_found', 'busy'],
  },
  async ({ params, caller, meta, doneOr }, deps) => {
    const webhook = await findWebhook(deps, { caller }, params.webhook_id);
    const { position } = doneOr(await deps.webhooks.remove(webhook, meta), WEBHOOK_REJECTIONS);
    deps.reads.note(webhook.tenant_id, position);
    return undefined;
  },
);

const deliveryNotFound = () => problem('delivery_not_found', 'There is no such delivery of this webhook.');

export const resendWebhookDelivery = post(
  '/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/resend',
  {
    summary: 'Send a message again',
    description:
      'The message keeps its ID, whatever its outcome was, and is tried for three more days. It is sent after ' +
      'messages that already wait.',
    access: 'any',
    params: deliveryParams,
    reply: { status: 202, schema: deliveryBody },
    problems: ['webhook_not_found', 'delivery_not_found', 'busy'],
  },
  async (request, deps) => {
    const { params, meta, doneOr } = request;
    const { webhook_id, tenant_id } = await findWebhook(deps, request, params.webhook_id);
    const find = () => deps.queries.deliveryOfWebhook(webhook_id, params.delivery_id, meta.now);
    if ((await find()) === undefined) throw deliveryNotFound();
    const name = { webhook_id, tenant_id, delivery_id: params.delivery_id };
    const { position } = doneOr(await deps.webhooks.resend(name, meta), { attempt_taken: neverRejected });
    deps.reads.note(tenant_id, position);
    await settleReads(deps.reads, request, tenant_id);
    const row = await find();
    if (row === undefined) throw deliveryNotFound();
    return shownDelivery(row);
  },
);

export const rotateWebhookSecret = post(
  '/v1/webhooks/{webhook_id}/rotate-secret',
  {
    summary: 'Give a webhook a new secret',
    description:
      'Both secrets sign until `old_secret_until`, so that a receiver can switch without missing a message. A second ' +
      'rotation within that time drops the oldest secret.',
    access: 'any',
    params: webhookParams,
    body: rotateSecretRequest,
    reply: { status: 200, schema: rotatedSecret },
    problems: ['webhook_not_found', 'field_encryption_not_configured', 'storage_error', 'busy'],
  },
  async ({ params, body, caller, meta, doneOr }, deps) => {
    const webhook = await findWebhook(deps, { caller }, params.webhook_id);
    const made = await deps.webhooks.rotate(webhook, body.keep_old_seconds * 1000, meta);
    if (made.kind === 'problem') throw workFailure(made);
    const { state, position } = doneOr(made.outcome, WEBHOOK_REJECTIONS);
    deps.reads.note(webhook.tenant_id, position);
    const { webhook_id, old_secret } = webhookOrFail(state);
    return { webhook_id, secret: made.secret, old_secret_until: old_secret?.until ?? meta.now };
  },
);

export const testWebhook = post(
  '/v1/webhooks/{webhook_id}/test',
  {
    summary: 'Send a test message to a webhook',
    description:
      'The message `webhook.test` is sent to this webhook alone, signed as all others are, and listed with its ' +
      'deliveries. It waits for no other message, and is tried again like them.',
    access: 'any',
    params: webhookParams,
    reply: { status: 202, schema: deliveryBody },
    problems: ['webhook_not_found', 'webhook_disabled', 'delivery_not_found', 'busy'],
  },
  async (request, deps) => {
    const { params, meta, doneOr } = request;
    const { webhook_id, tenant_id } = await findWebhook(deps, request, params.webhook_id);
    const { delivery_id, outcome } = await deps.webhooks.test({ webhook_id, tenant_id }, meta);
    const webhook_disabled = 'The webhook is disabled, so nothing is sent to it. Enable it, then test it.';
    const { position } = doneOr(outcome, { ...WEBHOOK_REJECTIONS, webhook_disabled });
    deps.reads.note(tenant_id, position);
    await settleReads(deps.reads, request, tenant_id);
    const row = await deps.queries.deliveryOfWebhook(webhook_id, delivery_id, meta.now);
    if (row === undefined) throw deliveryNotFound();
    return shownDelivery(row);
  },
);
