import { z } from 'zod';
import { MOVEMENT_MAX } from '../../domain/kernel/amounts.ts';
import type { reverseRefund as reverse } from '../commands/sales.ts';
import type { ReadYourWrites } from '../queries/queries.ts';
import { KEPT_A_DAY, routesOver } from '../server/routes.ts';
import { creditsOut, instantOut, minorIn, minorOut, plainText } from './basics.ts';
import { transaction } from './credits.ts';
import { REVERSAL_REJECTIONS } from './rejections.ts';

/** What these routes need. */
export interface ReversalsDeps {
  readonly reverseRefund: ReturnType<typeof reverse>;
  readonly reads: ReadYourWrites;
}

const { post } = routesOver<ReversalsDeps>();

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
    access: 'admin',
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
