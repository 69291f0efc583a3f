import { z } from 'zod';
import { event } from '../kernel/event.ts';
import { instant, tenantId } from '../kernel/units.ts';

const identity = { webhook_id: z.string(), tenant_id: tenantId };

/** Where to send, and what. Types are texts here: a log may hold those of a newer release. */
const settings = {
  url: z.string(),
  events: z.array(z.string()),
  description: z.string().nullable(),
  /** A balance that comes down below it is told; null: none is. */
  low_balance_credits: z.int().min(0).nullable(),
};

/** The secret lies sealed in object storage under `secret_id`; never here. */
const webhookCreated = event('WebhookCreated', {
  ...identity,
  ...settings,
  secret_id: z.string(),
  created_at: instant,
});

/** All settings as they are from now on. Enabling one again forgets why it was disabled. */
const webhookChanged = event('WebhookChanged', {
  ...identity,
  ...settings,
  enabled: z.boolean(),
  changed_at: instant,
});

/** `secret_id` signs from now on, the one before it too until `old_secret_until`. */
const webhookSecretRotated = event('WebhookSecretRotated', {
  ...identity,
  secret_id: z.string(),
  old_secret_id: z.string(),
  old_secret_until: instant,
  rotated_at: instant,
});

/** The service stops sending by itself. `gone`: the receiver answered 410. */
const webhookDisabled = event('WebhookDisabled', {
  ...identity,
  reason: z.enum(['failing', 'gone']),
  disabled_at: instant,
});

/** The last event of its stream; of one that was never created, the only one: it never will be. */
const webhookRemoved = event('WebhookRemoved', { ...identity, removed_at: instant });

export const webhookEvent = z.discriminatedUnion('type', [
  webhookCreated,
  webhookChanged,
  webhookSecretRotated,
  webhookDisabled,
  webhookRemoved,
]);
export type WebhookEvent = z.output<typeof webhookEvent>;
export type WebhookEventOf<Type extends WebhookEvent['type']> = Extract<WebhookEvent, { type: Type }>;

export const webhookStream = (webhookId: string): string => `webhook-${webhookId}`;
