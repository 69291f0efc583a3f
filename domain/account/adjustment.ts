import { reject } from '../kernel/decider.ts';
import { negated, plus } from '../kernel/units.ts';
import type { AdjustCredits } from './commands.ts';
import { covers, fits, sameAgain, withoutTenant, type AccountDecision } from './decision.ts';
import { accepted } from './opening.ts';
import { availableIn, type AccountState } from './state.ts';

/** Credits given or clawed back by a person. Without an idempotency key every command is a new one. */
export const adjustCredits = (state: AccountState, command: AdjustCredits): AccountDecision => {
  const data = withoutTenant(command.data);
  const earlier = data.idempotency_key === null ? undefined : state.adjustments.get(data.idempotency_key);
  if (earlier !== undefined) return sameAgain(earlier, data);

  const available_credits = availableIn(state);
  if (!data.allow_negative && !covers(available_credits, negated(data.credits)))
    return reject({ code: 'insufficient_balance', available_credits });
  if (!fits(state, { total: 'adjusted', delta: data.credits }))
    return reject({ code: 'credits_out_of_range' });

  const balance_after = plus(state.balance, data.credits);
  return accepted(state, command, {
    type: 'CreditsAdjusted',
    data: { ...data, created_at: command.meta.now, balance_after },
  });
};
