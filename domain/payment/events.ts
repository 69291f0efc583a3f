import { z } from 'zod';
import { eventCodec, type Upcaster, type Upcasters } from '../kernel/codec.ts';
import { event } from '../kernel/event.ts';
import { instant, tenantId } from '../kernel/units.ts';
import { paymentIntent } from './intent.ts';

const claim = {
  provider: z.string(),
  provider_txn_id: z.string(),
  tenant_id: tenantId,
  kind: z.enum(['sale', 'refund']),
  fingerprint: z.string(),
};

/**
 * The identity is taken, for this tenant and payload. `intent` is the account command, so that a sweeper
 * can finish what a crash left open.
 */
const paymentClaimed = event('PaymentClaimed', {
  ...claim,
  intent: paymentIntent,
  claimed_at: instant,
  /** The payment took effect before: its claim had been released at the same time, and is taken again. */
  again: z.literal(true).optional(),
  /** Never written: the version that an older claim was stored in. */
  lifted_from: z.literal(1).optional(),
});

/** The claimed command was rejected after all, or an operator gave it up: the identity is free again. */
const paymentReleased = event('PaymentReleased', {
  provider: claim.provider,
  provider_txn_id: claim.provider_txn_id,
  reason: z.string(),
  released_at: instant,
  /** Left out where the service released it. */
  released_by: z.literal('operator').optional(),
});

export const paymentEvent = z.discriminatedUnion('type', [paymentClaimed, paymentReleased]);
export type PaymentEvent = z.output<typeof paymentEvent>;

/** Version 1 kept the command as it happened to be; what does not fit is kept, and not finished. */
const claimFrom1: Upcaster = (data) => {
  const intent = data['intent'] ?? {};
  const isWhole = paymentIntent.safeParse(intent).success;
  return { ...data, lifted_from: 1, intent: isWhole ? intent : { type: 'Unreadable', stored: intent } };
};

export const paymentUpcasters: Upcasters = { PaymentClaimed: [claimFrom1] };

/** Reads and writes payment events, whatever their version. */
export const paymentCodec = eventCodec(paymentEvent, paymentUpcasters);
