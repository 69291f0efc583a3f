import type { RefundCredits } from '../../../domain/account/commands.ts';
import type { ApiDeps } from '../apiDeps.ts';
import { defineRoute, KEPT_A_DAY } from '../defineRoute.ts';
import { doneOrProblem } from '../doneOrProblem.ts';
import { problem } from '../problems.ts';
import { refundCommand, refundIn } from '../saleCommand.ts';
import { refundRequest, refundResponse } from '../wire/money.ts';

/** A sale that another tenant made is a mismatch; one that nobody made is not found. */
const checkTenantOfSale = async ({ claimantOf }: ApiDeps, { data }: RefundCredits): Promise<void> => {
  const { original_provider: provider, original_provider_txn_id: provider_txn_id } = data;
  const claimant = await claimantOf({ provider, provider_txn_id });
  if (claimant?.kind === 'sale' && claimant.tenant_id !== data.tenant_id)
    throw problem('refund_mismatch', 'The sale to refund belongs to another tenant.', { reason: 'tenant' });
};

export const refundCredits = (deps: ApiDeps) =>
  defineRoute({
    method: 'post',
    path: '/v1/billing/refunds',
    operationId: 'refundCredits',
    summary: 'Record a refund of all or part of a sale',
    description:
      'A negative grant linked to its sale. Members that are left out are derived in proportion. A retry with the ' +
      'same `provider` and `provider_txn_id` answers the original refund with `credited: false`.',
    tag: 'Billing',
    access: 'admin',
    tenant: 'body',
    bucket: 'general',
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
    handle: async ({ body, meta }) => {
      const command = refundCommand(deps, body, meta);
      const { outcome, credited } = await deps.payments.refundCredits(command);
      if (outcome.kind === 'rejected' && outcome.rejection.code === 'original_grant_not_found')
        await checkTenantOfSale(deps, command);
      const { state, position } = doneOrProblem(outcome);
      deps.reads.note(body.tenant_id, position);
      const { refund, ...left } = refundIn(state, command);
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
        balance_credits: state.balance,
        ...left,
        credited,
        created_at: refund.created_at,
      };
    },
  });
