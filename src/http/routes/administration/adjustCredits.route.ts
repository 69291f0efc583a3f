import type { AdjustCredits } from '../../../../domain/account/messages.ts';
import type { AccountKind } from '../../../../domain/account/account.ts';
import { fingerprintOf } from '../../../../domain/kernel/chain.ts';
import { asCredits } from '../../../../domain/kernel/amounts.ts';
import type { Outcome } from '../../../writer/decideBatch.ts';
import { KEPT_A_DAY, post } from '../../defineRoute.ts';
import { accountRejections } from '../../doneOrProblem.ts';
import { tenantParams } from '../../wire/basics.ts';
import { adjustRequest, adjustResponse } from '../../wire/money.ts';

/** What was adjusted now, or by the request that this one repeats. */
const adjustmentOf = (
  { events, state }: Extract<Outcome<AccountKind>, { kind: 'done' }>,
  idempotencyKey: string | null,
) => {
  const event = events.find(({ type }) => type === 'CreditsAdjusted');
  const adjustment =
    event?.type === 'CreditsAdjusted' ? event.data : state.adjustments.get(idempotencyKey ?? '');
  if (adjustment === undefined) throw new Error('an adjustment that was done is not in its account');
  return { adjustment, credited: event !== undefined };
};

const REJECTIONS = accountRejections('insufficient_balance', 'idempotency_key_reused');

export const adjustCredits = post('/v1/admin/tenants/{tenant_id}/adjust-credits', {
  summary: 'Give a tenant credits, or claw them back',
  description: 'Send an `Idempotency-Key`: a repeat after any time answers with `credited: false`.',
  access: 'admin',
  tenant: 'path',
  idempotency: { ...KEPT_A_DAY, keyLengthMax: 80 },
  params: tenantParams,
  body: adjustRequest,
  reply: { status: 200, schema: adjustResponse },
  problems: ['insufficient_balance', 'idempotency_key_reused', 'busy'],
  handle: async ({ params: { tenant_id }, body, idempotency_key, meta, doneOr }, deps) => {
    const command: AdjustCredits = {
      type: 'AdjustCredits',
      meta,
      data: {
        tenant_id,
        adjustment_id: deps.clock.newId('adj'),
        idempotency_key,
        fingerprint: fingerprintOf({ kind: 'adjustment', ...body }),
        ...body,
        credits: asCredits(body.credits),
      },
    };
    const done = doneOr(await deps.accounts.execute(command), REJECTIONS);
    deps.reads.note(tenant_id, done.position);
    const { adjustment, credited } = adjustmentOf(done, idempotency_key);
    const { adjustment_id, credits, reason, created_at } = adjustment;
    return {
      ...{ adjustment_id, tenant_id, credits, reason, credited, created_at },
      balance_credits: done.state.balance,
    };
  },
});
