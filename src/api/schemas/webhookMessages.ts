import { z } from 'zod';
import {
  PAYLOAD_VERSION,
  WEBHOOK_EVENT_TYPES,
  WEBHOOK_PAYLOADS,
  type WebhookEventType,
} from '../../../domain/webhookMessages.ts';
import { type Components, type Json, schemaOf } from '../../server/openapiSchemas.ts';
import { instantOut } from './basics.ts';

/** When a message of each type is sent, in a sentence. */
const TOLD: Readonly<Record<WebhookEventType, string>> = {
  'operation.succeeded': 'An operation has ended with its result.',
  'operation.partial': 'An operation has ended, and its data fits the schema only in part.',
  'operation.failed': 'An operation has failed, and is not tried again.',
  'operation.cancelled': 'An operation was cancelled.',
  'review.needed': 'An operation has ended with a result that a person has to look at.',
  'review.decided': 'A person has decided what a document says.',
  'review.rejected': 'A person has rejected a result: its operation has failed.',
  'batch.ended': 'Every document of a batch has its outcome, and everything delivered is paid for.',
  'training.succeeded': 'A training job has published its artifact.',
  'training.failed': 'A training job has failed, and is not tried again.',
  'training.cancelled': 'A training job was cancelled.',
  'credits.granted': 'Credits were sold to the tenant.',
  'credits.refunded': 'All or part of a sale was taken back.',
  'credits.reversed': 'All or part of a refund was undone.',
  'credits.sent': 'Credits of the tenant were moved to another one.',
  'credits.received': 'Credits of another tenant were moved to this one.',
  'credits.adjusted': 'A person gave the tenant credits, or took some back.',
  'balance.low':
    'The balance fell below a level of the webhook. It lasts for so many days at the pace of the last 7 and 28 UTC ' +
    'days; null: nothing was used in them.',
  'balance.exhausted': 'The balance fell to zero.',
  'budget.alert': 'Use and holds have reached a level of a budget: each level once a period.',
  'budget.reached':
    'Work was refused, for it does not fit a budget: each work once, and at most 20 in a period of a budget.',
  'free_pages.used_up': 'The last free page was used.',
  'key.created': 'The tenant has a new key.',
  'key.revoked': 'A key was revoked.',
  'webhook.test': 'A person tests this webhook. It is sent to no other, and cannot be asked for.',
  'reconciliation.drift':
    'Balances are not the sum of their grants and ledger: sent once, until that changes. For operators.',
  'audit.finding': 'An audit of the log and the read models found something wrong. For operators.',
};

const messageOf = (type: WebhookEventType) =>
  z
    .strictObject({
      type: z.literal(type).meta({ description: 'Type of event.' }),
      version: z.literal(PAYLOAD_VERSION).meta({
        description:
          'Version of the payload. Within it members may be added, but none is renamed or removed.',
      }),
      timestamp: instantOut.meta({ description: 'When it happened; the same in repeats.' }),
      tenant_id: z
        .string()
        .nullable()
        .meta({ description: 'Tenant that it is about; null: the whole service.' }),
      data: WEBHOOK_PAYLOADS[type].meta({ description: 'IDs and figures.' }),
    })
    .meta({
      id: `${type.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}Message`,
    });

const header = (name: string, description: string): Json => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
});

/** Standard Webhooks 1.0. */
const HEADERS: readonly Json[] = [
  header('webhook-id', 'ID of the message: a repeat has the same one.'),
  header('webhook-timestamp', 'When it was sent, in seconds since 1970.'),
  header(
    'webhook-signature',
    '`v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64; one for each secret, with a space between.',
  ),
];

const receiving = (type: WebhookEventType, components: Components): Json => ({
  post: {
    operationId: `receive_${type.replace('.', '_')}`,
    summary: TOLD[type],
    description: `${TOLD[type]} Sent at least once, signed as Standard Webhooks says.`,
    tags: ['Webhooks'],
    security: [],
    parameters: HEADERS,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: schemaOf(messageOf(type), 'output', components) } },
    },
    responses: {
      '2XX': {
        description:
          'The receiver has the message. After any other answer, or none within 15 s, it is tried again.',
      },
      '410': { description: 'The receiver is gone: the webhook is disabled.' },
    },
  },
});

/** What receivers are sent, as OpenAPI describes webhooks. */
export const webhookMessages = (components: Components): Json =>
  Object.fromEntries(WEBHOOK_EVENT_TYPES.map((type) => [type, receiving(type, components)]));
