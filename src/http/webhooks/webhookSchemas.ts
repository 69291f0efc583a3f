import { z } from 'zod';
import { ALL_TENANT_EVENTS, WEBHOOK_EVENT_TYPES } from '../../../domain/webhookMessages.ts';
import { attemptError } from '../../../domain/webhook.ts';
import { instantOut, pageOf, pagingQuery, plainText, tenantIdText } from '../wire/basics.ts';

const eventType = z.enum([ALL_TENANT_EVENTS, ...WEBHOOK_EVENT_TYPES]);

/** No line breaks and no other control characters: a parser of URLs passes over some of them in silence. */
const SHOWN = /^[ -~\u00a0-\u2027\u202a-\uffff]*$/;

const settings = {
  url: z
    .string()
    .min(1)
    .max(2048)
    .regex(SHOWN, 'Must not contain line breaks or other control characters.')
    .meta({
      description: 'https, at a public address; it is kept in the event log, so put no secret into it.',
    }),
  events: z
    .array(eventType)
    .min(1)
    .max(WEBHOOK_EVENT_TYPES.length + 1)
    .meta({
      description: 'What to be told. `*` is everything about the tenant, types of later releases too.',
    }),
  description: plainText(1, 500).nullish().meta({ description: 'For people.' }),
  low_balance_credits: z.int().min(0).max(Number.MAX_SAFE_INTEGER).nullish().meta({
    description: '`balance.low` is sent each time that the balance comes down below it; null: never.',
  }),
};

export const webhookCreateRequest = z
  .strictObject({ tenant_id: tenantIdText, ...settings })
  .meta({ id: 'WebhookCreateRequest' });

export const webhookChangeRequest = z
  .strictObject({
    ...settings,
    enabled: z.boolean().default(true).meta({ description: 'Whether anything is sent to it.' }),
  })
  .meta({ id: 'WebhookChangeRequest' });

const facts = {
  webhook_id: z.string(),
  tenant_id: z.string(),
  url: z.string(),
  events: z.array(z.string()),
  description: z.string().nullable(),
  low_balance_credits: z.int().nullable(),
  enabled: z.boolean(),
  disabled_reason: z
    .enum(['failing', 'gone'])
    .nullable()
    .meta({ description: '`failing`: for three days nothing arrived. `gone`: the receiver answered 410.' }),
  failing_since: instantOut.nullable().meta({
    description: 'First of the attempts that failed since the last one that did not; null while all is well.',
  }),
  created_at: instantOut,
  updated_at: instantOut,
};

export const webhookBody = z.strictObject(facts).meta({ id: 'Webhook' });

const secret = z.string().meta({ description: 'Verifies signatures: `whsec_…`. Shown this once.' });

export const createdWebhook = z.strictObject({ ...facts, secret }).meta({ id: 'CreatedWebhook' });

export const webhookParams = z.object({ webhook_id: plainText(1, 128) });

export const webhooksQuery = z.object({ tenant_id: tenantIdText, ...pagingQuery });

export const webhookList = pageOf(webhookBody, 'WebhookList');

export const rotateSecretRequest = z
  .strictObject({
    keep_old_seconds: z
      .int()
      .min(0)
      .max(604_800)
      .default(86_400)
      .meta({ description: 'How long the secret before signs too, in seconds.' }),
  })
  .meta({ id: 'WebhookSecretRotateRequest' });

export const rotatedSecret = z
  .strictObject({
    webhook_id: z.string(),
    secret,
    old_secret_until: instantOut.meta({
      description: 'Until then messages carry a signature of each secret.',
    }),
  })
  .meta({ id: 'RotatedWebhookSecret' });

const deliveryStatus = z.enum(['pending', 'delivered', 'failed']).meta({
  description:
    '`failed`: it was not delivered within three days, or its receiver answered 410, and it is tried no more. ' +
    'A webhook that is enabled again within the three days is sent it after all.',
});

export const deliveriesQuery = z.object({
  status: deliveryStatus.optional(),
  event: plainText(1, 64).optional().meta({ description: 'Type of event.' }),
  ...pagingQuery,
});

export const deliveryParams = z.object({
  webhook_id: plainText(1, 128),
  delivery_id: plainText(1, 128),
});

export const deliveryBody = z
  .strictObject({
    delivery_id: z.string().meta({ description: 'Sent as `webhook-id`: repeats have the same one.' }),
    webhook_id: z.string(),
    event: z.string().meta({ description: 'Type of event.' }),
    event_id: z.string().meta({ description: 'Of the event in the log that it tells of.' }),
    status: deliveryStatus,
    attempts: z.int().meta({ description: 'Requests that were begun so far.' }),
    response_status: z.int().nullable().meta({
      description: 'Status of the last answer; null when there was none.',
    }),
    error: attemptError.nullable().meta({
      description: 'Why the last attempt failed; null when it did not, or there was none.',
    }),
    created_at: instantOut,
    last_attempt_at: instantOut.nullable(),
    next_attempt_at: instantOut.nullable().meta({ description: 'null unless it is pending.' }),
    delivered_at: instantOut.nullable(),
    payload: z.record(z.string(), z.unknown()).meta({ description: 'The body that the receiver gets.' }),
  })
  .meta({ id: 'WebhookDelivery' });

export const deliveryList = pageOf(deliveryBody, 'WebhookDeliveryList');
