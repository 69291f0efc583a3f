import { z } from 'zod';
import {
  PAYLOAD_VERSION,
  WEBHOOK_EVENT_TYPES,
  WEBHOOK_PAYLOADS,
  type WebhookEventType,
} from '../../../domain/webhookMessages.ts';
import { instantOut } from '../../api/basics.ts';
import { schemaOf, type Components, type Json } from './openapiSchemas.ts';

/** When a receiver is told of each type, in a sentence. */
const TOLD: Readonly<Record<WebhookEventType, string>> = {
  'operation.succeeded': 'An operation has ended with its result.',
  'operation.partial': 'An operation has ended with data of which some does not fit the schema.',
  'operation.failed': 'An operation has failed, and is not tried again.',
  'operation.cancelled': 'An operation was cancelled.',
  'batch.ended': 'Every document of a batch has its outcome, and all that was delivered is paid for.',
  'training.succeeded': 'A training job has published its artifact.',
  'training.failed': 'A training job has failed, and is not tried again.',
  'training.cancelled': 'A training job was cancelled.',
  'credits.granted': 'Credits were sold to the tenant.',
  'credits.refunded': 'All or part of a sale was taken back.',
  'credits.adjusted': 'A person gave the tenant credits, or took some back.',
  'balance.low': 'The balance came down below `low_balance_credits` of the webhook.',
  'balance.exhausted': 'The balance came down to nothing.',
  'free_pages.used_up': 'The last free page was used.',
  'key.created': 'The tenant has a new key.',
  'key.revoked': 'A key was revoked.',
  'reconciliation.drift':
    'Balances are not the sum of their grants and ledger: told once, until it changes. For operators.',
  'audit.finding': 'An audit of the log and the read models found something wrong. For operators.',
};

const messageOf = (type: WebhookEventType) =>
  z
    .strictObject({
      type: z.literal(type).meta({ description: 'Type of event.' }),
      version: z.literal(PAYLOAD_VERSION).meta({
        description: 'Of the payload: members may be added to it, none is renamed or removed.',
      }),
      timestamp: instantOut.meta({ description: 'When it happened; repeats say the same.' }),
      tenant_id: z.string().nullable().meta({ description: 'Whom it is about; null: the whole service.' }),
      data: WEBHOOK_PAYLOADS[type].meta({ description: 'IDs and figures.' }),
    })
    .meta({
      id: `${type.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}Message`,
    });

const header = (name: string, description: string): Json => ({
  ...{ name, in: 'header', required: true, description, schema: { type: 'string' } },
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
      '2XX': { description: 'The receiver has it. Anything else, or nothing within 15 s, is tried again.' },
      '410': { description: 'The receiver is gone: the webhook is disabled.' },
    },
  },
});

/** What receivers are sent, as OpenAPI describes webhooks. */
export const webhookMessages = (components: Components): Json =>
  Object.fromEntries(WEBHOOK_EVENT_TYPES.map((type) => [type, receiving(type, components)]));
