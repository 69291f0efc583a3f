import { eventCodec } from '../../../domain/kernel/codec.ts';
import type { EventStore } from '../../../domain/ports/log.ts';
import {
  type RecordAttempt,
  type ResendDelivery,
  type StartAttempt,
  webhook,
  type WebhookCommand,
  webhookDelivery,
  webhookDeliveryEvent,
  type WebhookDeliveryKind,
  webhookDeliveryStream,
  webhookEvent,
  type WebhookKind,
  webhookStream,
} from '../../../domain/webhook.ts';
import { streamsOf } from '../writer/streams.ts';

/** A webhook, and whose it is. */
export interface WebhookName {
  readonly webhook_id: string;
  readonly tenant_id: string;
}

/** The streams of webhooks. */
export type WebhookStreams = ReturnType<typeof webhookStreams>;

const rules = { decider: webhook, codec: eventCodec(webhookEvent), streamOf: webhookStream };

export const webhookStreams = (store: EventStore) => {
  const { handle, stateOf } = streamsOf<WebhookKind>(rules, store);
  return {
    handle: ({ webhook_id, tenant_id }: WebhookName, command: WebhookCommand) =>
      handle(webhook_id, command, tenant_id),
    /** From the log; `webhook` is null for one that never was, or is no more. */
    stateOf,
  };
};

/** The streams of deliveries: what was sent, and what came of it. */
export type DeliveryStreams = ReturnType<typeof deliveryStreams>;

const deliveryRules = {
  decider: webhookDelivery,
  codec: eventCodec(webhookDeliveryEvent),
  streamOf: webhookDeliveryStream,
};

export const deliveryStreams = (store: EventStore) => {
  const { handle, stateOf } = streamsOf<WebhookDeliveryKind>(deliveryRules, store);
  return {
    handle: (command: StartAttempt | RecordAttempt | ResendDelivery) =>
      handle(command.data.delivery_id, command, command.data.tenant_id),
    stateOf,
  };
};
