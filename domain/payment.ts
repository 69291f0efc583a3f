import { z } from 'zod';
import {
  accept,
  actor,
  type Command,
  type Decider,
  event,
  reject,
  type StreamKind,
  traceparent,
} from './kernel/decider.ts';
import { isSameSale } from './account/saleDetails.ts';
import { creditsGranted, creditsRefunded, refundReversed } from './account/messages.ts';
import type { JsonObject } from './kernel/json.ts';
import { creditsFromZero, currencyCode, instant, minorFromZero, tenantId } from './kernel/amounts.ts';
import { eventCodec, type Upcaster, type Upcasters } from './kernel/codec.ts';

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

/** Null members are derived from the sale. */
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
    provider_fee_minor: minorFromZero.nullable(),
  }),
  meta: askedBy,
});

/** Named by its ID and transaction; null members are derived from the refund. */
const reversalIntent = z.strictObject({
  type: z.literal('ReverseRefund'),
  data: refundReversed.shape.data
    .omit({
      grant_id: true,
      currency: true,
      vat_amount_minor: true,
      provider_fee_minor: true,
      balance_after: true,
      created_at: true,
    })
    .extend({
      tenant_id: tenantId,
      refund_provider_txn_id: z.string(),
      credits: creditsFromZero.nullable(),
      gross_amount_minor: minorFromZero.nullable(),
    }),
  meta: askedBy,
});

/** A claim of version 1 whose command is not whole or not valid: nobody can finish it, only release it. */
const unreadableIntent = z.strictObject({
  type: z.literal('Unreadable'),
  stored: z.record(z.string(), z.unknown()).transform((stored) => stored as JsonObject),
});

/** The command that a payment was claimed for, whole, so that another process can finish it. */
const paymentIntent = z.discriminatedUnion('type', [
  saleIntent,
  refundIntent,
  reversalIntent,
  unreadableIntent,
]);

type PaymentIntent = z.output<typeof paymentIntent>;

const claim = {
  provider: z.string(),
  provider_txn_id: z.string(),
  tenant_id: tenantId,
  kind: z.enum(['sale', 'refund', 'reversal']),
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

type PaymentEvent = z.output<typeof paymentEvent>;

/** The identity's holder, if any. `lifted_from`: made by a release that told callers no and left the claim. */
export type PaymentClaim = Extract<PaymentEvent, { readonly type: 'PaymentClaimed' }>['data'];

/** Takes the identity for a tenant and payload; `again`: the command took effect before. A repeat does nothing. */
export type ClaimPayment = Command<'ClaimPayment', Omit<PaymentClaim, 'claimed_at' | 'lifted_from'>>;

/** Frees the identity: the command that it was claimed for was rejected, or an operator gave it up. */
type ReleasePayment = Command<
  'ReleasePayment',
  {
    readonly fingerprint: string;
    readonly reason: string;
    readonly released_by?: 'operator';
  }
>;

export type PaymentCommand = ClaimPayment | ReleasePayment;

/** Taken by another tenant, kind or payload. */
interface PaymentRejection {
  readonly code: 'idempotency_key_reused';
}

interface PaymentState {
  readonly claim: PaymentClaim | null;
}

const figuresIn = (intent: PaymentIntent) => (intent.type === 'GrantCredits' ? intent.data : {});

const isSame = (claim: PaymentClaim, { data }: ClaimPayment): boolean => {
  if (claim.tenant_id !== data.tenant_id || claim.kind !== data.kind) return false;
  if (claim.fingerprint === data.fingerprint) return true;
  return data.kind === 'sale' && isSameSale(figuresIn(claim.intent), figuresIn(data.intent));
};

export type PaymentKind = StreamKind<PaymentState, PaymentCommand, PaymentEvent, PaymentRejection>;

/** One payment, one claim; only a command that succeeded keeps it. */
export const payment: Decider<PaymentKind> = {
  initialState: { claim: null },
  decide: ({ claim }, command) => {
    if (command.type === 'ReleasePayment') {
      if (claim?.fingerprint !== command.data.fingerprint) return accept();
      const { provider, provider_txn_id } = claim;
      const { fingerprint: _, ...why } = command.data;
      return accept({
        type: 'PaymentReleased',
        data: { provider, provider_txn_id, ...why, released_at: command.meta.now },
      });
    }
    if (claim !== null) return isSame(claim, command) ? accept() : reject({ code: 'idempotency_key_reused' });
    return accept({ type: 'PaymentClaimed', data: { ...command.data, claimed_at: command.meta.now } });
  },
  evolve: (_state, { type, data }) => ({ claim: type === 'PaymentClaimed' ? data : null }),
};

/** Version 1 kept the command as it happened to be; what does not fit is kept, and not finished. */
const claimFrom1: Upcaster = (data) => {
  const intent = data['intent'] ?? {};
  const isWhole = paymentIntent.safeParse(intent).success;
  return { ...data, lifted_from: 1, intent: isWhole ? intent : { type: 'Unreadable', stored: intent } };
};

export const paymentUpcasters: Upcasters = { PaymentClaimed: [claimFrom1] };

/** Reads and writes payment events, whatever their version. */
export const paymentCodec = eventCodec(paymentEvent, paymentUpcasters);
