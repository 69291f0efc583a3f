import { z } from 'zod';
import { MOVEMENT_MAX } from '../../../domain/kernel/amounts.ts';
import type { BookedPayment, paymentNamed as named } from '../../commands/money/payments.ts';
import type { recordDispute as record, reverseRefund as reverse } from '../../commands/sales.ts';
import { disputeStatus } from '../../../domain/account/messages.ts';
import type { ReadYourWrites } from '../../queries/queries.ts';
import { KEPT_A_DAY, routesOver } from '../../server/routes.ts';
import { creditsOut, instantOut, minorIn, minorOut, plainText } from '../schemas/basics.ts';
import { disputeOut, provider, transaction } from './credits.ts';
import { problem } from '../../server/problems.ts';
import { DISPUTE_REJECTIONS, REVERSAL_REJECTIONS } from '../schemas/rejections.ts';

/** What these routes need. */
export interface ReversalsDeps {
  readonly reverseRefund: ReturnType<typeof reverse>;
  readonly recordDispute: ReturnType<typeof record>;
  readonly paymentNamed: ReturnType<typeof named>;
  readonly reads: ReadYourWrites;
}

const { get, post } = routesOver<ReversalsDeps>();

const reversalRequest = z
  .strictObject({
    provider_txn_id: transaction,
    credits: z.int().min(0).max(MOVEMENT_MAX).nullish().meta({ description: 'Credits to give back.' }),
    gross_amount_minor: minorIn
      .nullish()
      .meta({ description: 'Money that is paid again, in minor units of the currency of the sale.' }),
    reason: plainText(1, 500).nullish(),
  })
  .superRefine(({ credits, gross_amount_minor: gross }, context) => {
    const named = (credits ?? null) !== null || (gross ?? null) !== null;
    if (named && (credits ?? 0) === 0 && (gross ?? 0) === 0)
      context.addIssue({ code: 'custom', path: ['credits'], message: 'Credits or money are required.' });
  })
  .meta({ id: 'ReversalRequest' });

const reversalResponse = z
  .strictObject({
    reversal_id: z.string(),
    refund_id: z.string(),
    grant_id: z.string(),
    tenant_id: z.string(),
    credits: creditsOut,
    currency: z.string(),
    gross_amount_minor: minorOut,
    vat_amount_minor: minorOut,
    provider_fee_minor: minorOut,
    provider: z.string(),
    provider_txn_id: z.string(),
    balance_credits: creditsOut,
    reversible_credits: creditsOut,
    reversible_amount_minor: minorOut,
    refundable_credits: creditsOut,
    refundable_amount_minor: minorOut.nullable(),
    credited: z.boolean(),
    created_at: instantOut,
  })
  .meta({ id: 'ReversalResponse' });

export const reverseRefund = post(
  '/v1/billing/refunds/{refund_id}/reversal',
  {
    summary: 'Undo all or part of a refund',
    description:
      'For a dispute that was won, or a refund that failed: credits and money belong to the sale again, at its price ' +
      'and rate, and can be refunded again. Without `credits` and `gross_amount_minor` it is all that is left of the ' +
      'refund; with money alone its part of the credits. The provider is that of the refund. A retry with the same ' +
      '`provider_txn_id` returns the original reversal with `credited: false`.',
    access: 'admin_or_seller',
    idempotency: KEPT_A_DAY,
    params: z.object({ refund_id: z.string().min(1).max(255) }),
    body: reversalRequest,
    reply: { status: 200, schema: reversalResponse },
    problems: ['refund_not_found', 'reversal_exceeds_refund', 'idempotency_key_reused', 'busy'],
    reads: 'all',
  },
  async ({ params, body, meta, doneOr }, deps) => {
    const done = doneOr(await deps.reverseRefund({ ...params, ...body }, meta), REVERSAL_REJECTIONS);
    const { reversal, tenant_id, balance, credited, position } = done;
    deps.reads.note(tenant_id, position);
    return {
      reversal_id: reversal.reversal_id,
      refund_id: reversal.refund_id,
      grant_id: reversal.grant_id,
      tenant_id,
      credits: reversal.credits,
      currency: reversal.currency,
      gross_amount_minor: reversal.gross_amount_minor,
      vat_amount_minor: reversal.vat_amount_minor,
      provider_fee_minor: reversal.provider_fee_minor,
      provider: reversal.provider,
      provider_txn_id: reversal.provider_txn_id,
      balance_credits: balance,
      reversible_credits: done.reversible_credits,
      reversible_amount_minor: done.reversible_amount_minor,
      refundable_credits: done.refundable_credits,
      refundable_amount_minor: done.refundable_amount_minor,
      credited,
      created_at: reversal.created_at,
    };
  },
);

const disputeRequest = z
  .strictObject({
    provider,
    provider_txn_id: transaction.meta({ description: 'ID of the dispute at its provider.' }),
    original_provider_txn_id: transaction.meta({ description: 'The payment that is disputed.' }),
    status: disputeStatus,
    gross_amount_minor: minorIn.nullish().meta({
      description:
        'Disputed money, in minor units of the currency of the sale. Left out: all that is left of it.',
    }),
    fee_minor: minorIn.nullish().meta({
      description:
        'Fee that the provider keeps for it, in minor units of the currency of the sale, once known.',
    }),
  })
  .meta({ id: 'DisputeRequest' });

const disputeResponse = z
  .strictObject({
    dispute_id: z.string(),
    grant_id: z.string(),
    tenant_id: z.string(),
    status: disputeStatus,
    credits: creditsOut.meta({ description: 'Taken back when it was opened: those that were there.' }),
    currency: z.string(),
    gross_amount_minor: minorOut,
    vat_amount_minor: minorOut,
    fee_minor: minorOut.meta({ description: 'Fee of the dispute; 0: not known.' }),
    provider: z.string(),
    provider_txn_id: z.string(),
    balance_credits: creditsOut,
    refundable_credits: creditsOut,
    refundable_amount_minor: minorOut.nullable(),
    credited: z.boolean().meta({ description: 'False for a retry, and for news that were known.' }),
    created_at: instantOut,
  })
  .meta({ id: 'DisputeResponse' });

export const recordDispute = post(
  '/v1/billing/disputes',
  {
    summary: 'Record a dispute of a sale, or news of one',
    description:
      '`opened` takes back the credits that are there, never more than the money is for and never below 0, and the ' +
      'money in any case. `won` gives all of that back, `lost` ends it. The fee is a cost of its own and may be told ' +
      'later. Provider and transaction identify the dispute: a retry, or older news, answers `credited: false`, and ' +
      'what contradicts is 422 with `members`.',
    access: 'admin_or_seller',
    idempotency: KEPT_A_DAY,
    body: disputeRequest,
    reply: { status: 200, schema: disputeResponse },
    problems: ['original_grant_not_found', 'refund_exceeds_original', 'idempotency_key_reused', 'busy'],
  },
  async ({ body, meta, doneOr }, deps) => {
    const done = doneOr(await deps.recordDispute(body, meta), DISPUTE_REJECTIONS);
    const { refund, tenant_id, balance, credited, position } = done;
    deps.reads.note(tenant_id, position);
    return {
      dispute_id: refund.refund_id,
      grant_id: refund.grant_id,
      tenant_id,
      status: refund.dispute?.status ?? body.status,
      credits: refund.credits,
      currency: refund.currency,
      gross_amount_minor: refund.gross_amount_minor,
      vat_amount_minor: refund.vat_amount_minor,
      fee_minor: refund.dispute?.fee_minor ?? 0,
      provider: refund.provider,
      provider_txn_id: refund.provider_txn_id,
      balance_credits: balance,
      refundable_credits: done.refundable_credits,
      refundable_amount_minor: done.refundable_amount_minor,
      credited,
      created_at: refund.created_at,
    };
  },
);

const namedPayment = z
  .strictObject({
    tenant_id: z.string(),
    kind: z.enum(['sale', 'refund', 'dispute', 'reversal']),
    grant_id: z.string().meta({ description: 'ID of the sale, the refund, the dispute or the reversal.' }),
    original_grant_id: z.string().nullable().meta({ description: 'The sale; null: it is the sale.' }),
    provider: z.string(),
    provider_txn_id: z.string(),
    credits: creditsOut.meta({
      description: 'Sold (the bonus among them), taken back, or given back again: never below 0.',
    }),
    bonus_credits: creditsOut,
    currency: z.string(),
    gross_amount_minor: minorOut.nullable(),
    discount_minor: minorOut,
    vat_amount_minor: minorOut,
    provider_fee_minor: minorOut,
    payout_id: z.string().nullable(),
    ...disputeOut,
    refunded_credits: creditsOut,
    refunded_amount_minor: minorOut,
    occurred_at: instantOut,
    created_at: instantOut,
  })
  .meta({ id: 'NamedPayment', description: 'A payment as it is booked; amounts are never below 0.' });

const NOT_SOLD = {
  bonus_credits: 0,
  discount_minor: 0,
  payout_id: null,
  refunded_credits: 0,
  refunded_amount_minor: 0,
};

/** What only a sale has. */
const soldIn = ({ sale: state }: BookedPayment) =>
  state === undefined
    ? NOT_SOLD
    : {
        bonus_credits: state.sale.bonus_credits ?? 0,
        discount_minor: state.sale.discount_minor ?? 0,
        payout_id: state.sale.payout_id ?? null,
        refunded_credits: state.refunded_credits,
        refunded_amount_minor: state.refunded_gross_minor,
      };

/** What only a dispute has. */
const disputeIn = ({ refund }: BookedPayment) => ({
  dispute_status: refund?.dispute?.status ?? null,
  dispute_fee_minor: refund?.dispute?.fee_minor ?? 0,
});

/** The event of a payment, and the IDs that it is known by. */
const identityOf = ({ sale, refund, reversal }: BookedPayment) => {
  if (sale !== undefined) {
    const { grant_id } = sale.sale;
    return { kind: 'sale' as const, grant_id, original_grant_id: null, booked: sale.sale };
  }
  if (refund !== undefined) {
    const kind = refund.dispute === undefined ? ('refund' as const) : ('dispute' as const);
    return { kind, grant_id: refund.refund_id, original_grant_id: refund.grant_id, booked: refund };
  }
  if (reversal === undefined) throw new Error('a payment is a sale, a refund or a reversal');
  const { reversal_id, grant_id: original_grant_id } = reversal;
  return { kind: 'reversal' as const, grant_id: reversal_id, original_grant_id, booked: reversal };
};

export const getPayment = get(
  '/v1/billing/payments/{provider}/{provider_txn_id}',
  {
    summary: 'A sale, refund, dispute or reversal by its name at the provider',
    description:
      'Of any tenant, as the log has it at this moment: what was answered before is there. A provider is found in ' +
      'any case of its letters.',
    access: 'admin_or_seller',
    params: z.object({ provider, provider_txn_id: transaction }),
    reply: { status: 200, schema: namedPayment },
    problems: ['payment_not_found', 'not_ready'],
  },
  async ({ params }, { paymentNamed }) => {
    const found = await paymentNamed(params);
    if (found === undefined)
      throw problem('payment_not_found', 'No payment is booked under this provider and transaction.');
    const { kind, grant_id, original_grant_id, booked } = identityOf(found);
    const { provider, provider_txn_id, credits, currency, gross_amount_minor } = booked;
    const { vat_amount_minor, provider_fee_minor, occurred_at, created_at } = booked;
    return {
      tenant_id: found.tenant_id,
      kind,
      grant_id,
      original_grant_id,
      provider,
      provider_txn_id,
      credits,
      currency,
      gross_amount_minor,
      vat_amount_minor,
      provider_fee_minor,
      ...soldIn(found),
      ...disputeIn(found),
      occurred_at,
      created_at,
    };
  },
);
