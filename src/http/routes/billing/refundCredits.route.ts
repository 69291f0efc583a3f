import { KEPT_A_DAY, post } from '../../defineRoute.ts';
import { REFUND_REJECTIONS } from '../../doneOrProblem.ts';
import { refundRequest, refundResponse } from '../../wire/money.ts';

export const refundCredits = post('/v1/billing/refunds', {
  summary: 'Record a refund of all or part of a sale',
  description:
    'A negative grant linked to its sale. Members that are left out are derived in proportion. A retry with the ' +
    'same `provider` and `provider_txn_id` answers the original refund with `credited: false`.',
  access: 'admin',
  tenant: 'body',
  idempotency: KEPT_A_DAY,
  body: refundRequest,
  reply: { status: 200, schema: refundResponse },
  problems: [
    'original_grant_not_found',
    'refund_mismatch',
    'refund_exceeds_original',
    'idempotency_key_reused',
    'insufficient_balance',
    'busy',
  ],
  handle: async ({ body, meta, doneOr }, deps) => {
    const done = doneOr(await deps.refundCredits(body, meta), REFUND_REJECTIONS);
    const { refund, refundable_credits, refundable_amount_minor, balance, credited } = done;
    deps.reads.note(body.tenant_id, done.position);
    return {
      refund_id: refund.refund_id,
      grant_id: refund.grant_id,
      tenant_id: body.tenant_id,
      credits: refund.credits,
      currency: refund.currency,
      gross_amount_minor: refund.gross_amount_minor,
      vat_amount_minor: refund.vat_amount_minor,
      provider_fee_minor: refund.provider_fee_minor,
      provider: refund.provider,
      provider_txn_id: refund.provider_txn_id,
      balance_credits: balance,
      refundable_credits,
      refundable_amount_minor,
      credited,
      created_at: refund.created_at,
    };
  },
});
