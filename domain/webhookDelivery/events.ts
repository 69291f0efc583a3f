import { z } from 'zod';
import { event } from '../kernel/event.ts';
import { instant, tenantId } from '../kernel/units.ts';

const deliveryIdentity = { delivery_id: z.string(), webhook_id: z.string(), tenant_id: tenantId };

/** Why an attempt failed: the receiver's status tells more where there is one. */
export const attemptError = z.enum([
  'status',
  'redirect',
  'timeout',
  'connection',
  'unsafe_address',
  'secret_lost',
]);
export type AttemptError = z.output<typeof attemptError>;

/** A sender is about to make a request: nobody else does so while it may be under way. */
const deliveryStarted = event('WebhookDeliveryStarted', {
  ...deliveryIdentity,
  /** From 1; counts on when it is sent again. */
  attempt: z.int().min(1),
  started_at: instant,
});

/** What became of a request. Of one that was started there is none if its sender died. */
const deliveryAttempted = event('WebhookDeliveryAttempted', {
  ...deliveryIdentity,
  attempt: z.int().min(1),
  /** null: it was delivered. */
  error: attemptError.nullable(),
  /** null: there was no answer. */
  response_status: z.int().nullable(),
  duration_ms: z.int().min(0),
  attempted_at: instant,
  /** When it is tried again; null where it was delivered. */
  next_attempt_at: instant.nullable(),
});

/** A person wants it sent again, whatever has become of it. */
const deliveryResent = event('WebhookDeliveryResent', { ...deliveryIdentity, resent_at: instant });

export const webhookDeliveryEvent = z.discriminatedUnion('type', [
  deliveryStarted,
  deliveryAttempted,
  deliveryResent,
]);
export type WebhookDeliveryEvent = z.output<typeof webhookDeliveryEvent>;
export type WebhookDeliveryEventOf<Type extends WebhookDeliveryEvent['type']> = Extract<
  WebhookDeliveryEvent,
  { type: Type }
>;

export const webhookDeliveryStream = (deliveryId: string): string => `webhookDelivery-${deliveryId}`;
