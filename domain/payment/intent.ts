import { z } from 'zod';
import { creditsGranted, creditsRefunded } from '../account/events.ts';
import { actor, traceparent } from '../kernel/event.ts';
import type { JsonObject } from '../kernel/json.ts';
import { creditsFromZero, currencyCode, instant, minorFromZero, tenantId } from '../kernel/units.ts';

/** Who asked for a payment, and when. */
const askedBy = z.strictObject({
  now: instant,
  actor,
  correlation_id: z.string(),
  command_id: z.string(),
  traceparent: traceparent.optional(),
});

/** The members of the event that a sale comes to; its balance and its time follow when it is appended. */
const saleIntent = z.strictObject({
  type: z.literal('GrantCredits'),
  data: creditsGranted.shape.data
    .omit({ balance_after: true, created_at: true })
    .extend({ tenant_id: tenantId }),
  meta: askedBy,
});

/** What is null is derived from the sale. */
const refundIntent = z.strictObject({
  type: z.literal('RefundCredits'),
  data: creditsRefunded.shape.data.omit({ grant_id: true, balance_after: true, created_at: true }).extend({
    tenant_id: tenantId,
    original_provider: z.string(),
    original_provider_txn_id: z.string(),
    credits: creditsFromZero.nullable(),
    currency: currencyCode.nullable(),
    gross_amount_minor: minorFromZero.nullable(),
    vat_amount_minor: minorFromZero.nullable(),
  }),
  meta: askedBy,
});

/** A claim of version 1 whose command is not whole or not valid: nobody can finish it, only release it. */
const unreadableIntent = z.strictObject({
  type: z.literal('Unreadable'),
  stored: z.record(z.string(), z.unknown()).transform((stored) => stored as JsonObject),
});

/** The command that a payment was claimed for, whole, so that another process can finish it. */
export const paymentIntent = z.discriminatedUnion('type', [saleIntent, refundIntent, unreadableIntent]);
export type PaymentIntent = z.output<typeof paymentIntent>;
