import { z } from 'zod';
import { event } from '../kernel/event.ts';
import type { JsonObject } from '../kernel/json.ts';
import { instant, tenantId } from '../kernel/units.ts';

const claim = {
  provider: z.string(),
  provider_txn_id: z.string(),
  tenant_id: tenantId,
  kind: z.enum(['sale', 'refund']),
  fingerprint: z.string(),
};

/**
 * The identity is taken, for this tenant and payload. `intent` is the account command's data, so that
 * a sweeper can finish what a crash left open.
 */
export const paymentClaimed = event('PaymentClaimed', {
  ...claim,
  intent: z.record(z.string(), z.unknown()).transform((intent) => intent as JsonObject),
  claimed_at: instant,
});

/** The claimed command was rejected after all: the identity is free again. */
export const paymentReleased = event('PaymentReleased', {
  provider: claim.provider,
  provider_txn_id: claim.provider_txn_id,
  reason: z.string(),
  released_at: instant,
});

export const paymentEvent = z.discriminatedUnion('type', [paymentClaimed, paymentReleased]);
export type PaymentEvent = z.output<typeof paymentEvent>;
