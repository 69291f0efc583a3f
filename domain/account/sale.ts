import { reject } from '../kernel/decider.ts';
import { plus } from '../kernel/units.ts';
import { paymentKeyOf } from '../payment/identity.ts';
import type { GrantCredits } from './commands.ts';
import { fits, reused, sameAgain, withoutTenant, type AccountDecision } from './decision.ts';
import type { AccountEventOf } from './events.ts';
import { accepted, planSet } from './opening.ts';
import type { AccountState } from './state.ts';

/** A sale. The first one moves the tenant from plan `free` to `paid`. */
export const grantCredits = (state: AccountState, command: GrantCredits): AccountDecision => {
  const { data, meta } = command;
  const key = paymentKeyOf(data);
  const earlier = state.sales.get(key);
  if (earlier !== undefined) return sameAgain(earlier.sale, data);
  if (state.refunds.has(key)) return reused();
  if (!fits(state, { total: 'purchased', delta: data.credits }))
    return reject({ code: 'credits_out_of_range' });

  const granted = creditsGranted(state, command);
  if (state.plan !== 'free' || !state.sales.isEmpty()) return accepted(state, command, granted);
  const upgrade = planSet(state.plan, { plan: 'paid', reason: 'first sale', set_at: meta.now });
  return accepted(state, command, granted, upgrade);
};

const creditsGranted = (
  state: AccountState,
  { data, meta }: GrantCredits,
): AccountEventOf<'CreditsGranted'> => ({
  type: 'CreditsGranted',
  data: {
    ...withoutTenant(data),
    created_at: meta.now,
    balance_after: plus(state.balance, data.credits),
  },
});
