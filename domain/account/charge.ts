import { reject } from '../kernel/decider.ts';
import { minus, NO_CREDITS } from '../kernel/units.ts';
import type { ChargeCredits } from './commands.ts';
import { covers, fits, sameAgain, withoutTenant, type AccountDecision } from './decision.ts';
import { accepted } from './opening.ts';
import { availableIn, type AccountState } from './state.ts';

/** A flat burn without a hold: no pages, and at most once per idempotency key. */
export const chargeCredits = (state: AccountState, command: ChargeCredits): AccountDecision => {
  const { paid_plan_required, ...charge } = withoutTenant(command.data);
  const earlier = state.charges.get(charge.idempotency_key);
  if (earlier !== undefined) return sameAgain(earlier, charge);
  if (paid_plan_required && state.plan === 'free')
    return reject({ code: 'plan_required', plan: state.plan, required_plan: 'paid' });

  const available_credits = availableIn(state);
  if (!covers(available_credits, charge.credits))
    return reject({ code: 'insufficient_credits', required_credits: charge.credits, available_credits });
  if (!fits(state, { total: 'used', delta: charge.credits })) return reject({ code: 'credits_out_of_range' });
  return accepted(state, command, {
    type: 'CreditsBurned',
    data: {
      ...charge,
      operation_id: charge.usage_id,
      hold_id: null,
      extraction_mode: null,
      pages: 0,
      free_pages: 0,
      credits_per_page: NO_CREDITS,
      created_at: command.meta.now,
      balance_after: minus(state.balance, charge.credits),
    },
  });
};
