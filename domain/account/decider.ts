import { accept, reject, type Decider, type Decision, type StreamKind } from '../kernel/decider.ts';
import { plus, staysExact } from '../kernel/units.ts';
import type { AccountCommand, AccountRejection, AdjustCredits, OpenAccount, SetPlan } from './commands.ts';
import type { AccountEvent } from './events.ts';
import { evolve } from './evolve.ts';
import { chargeCredits, holdCredits, raiseHold, releaseHold, settleHold } from './holds.ts';
import { opening } from './opening.ts';
import { grantCredits, refundCredits } from './payments.ts';
import { availableIn, NEW_ACCOUNT, type AccountState } from './state.ts';

type AccountDecision = Decision<AccountEvent, AccountRejection>;

const openAccount = (state: AccountState, { data, meta }: OpenAccount): AccountDecision =>
  accept(...opening(state, data.tenant_id, meta));

const setPlan = (state: AccountState, { data, meta }: SetPlan): AccountDecision => {
  const { tenant_id, plan, reason } = data;
  if (state.plan === plan) return accept(...opening(state, tenant_id, meta));
  return accept(...opening(state, tenant_id, meta), {
    type: 'PlanSet',
    data: { plan, previous_plan: state.plan, reason, set_at: meta.now },
  });
};

const adjustCredits = (state: AccountState, { data, meta }: AdjustCredits): AccountDecision => {
  const earlier = data.idempotency_key === null ? undefined : state.adjustments.get(data.idempotency_key);
  if (earlier?.fingerprint === data.fingerprint) return accept();
  if (earlier !== undefined) return reject({ code: 'idempotency_key_reused' });

  const isExact = [state.balance, state.adjusted].every((total) => staysExact(total, data.credits));
  if (!isExact) return reject({ code: 'credits_out_of_range' });

  const available_credits = availableIn(state);
  if (data.credits < 0 && plus(available_credits, data.credits) < 0 && !data.allow_negative)
    return reject({ code: 'insufficient_balance', available_credits });

  const { tenant_id, ...adjustment } = data;
  return accept(...opening(state, tenant_id, meta), {
    type: 'CreditsAdjusted',
    data: { ...adjustment, created_at: meta.now, balance_after: plus(state.balance, data.credits) },
  });
};

type OnHold = Extract<
  AccountCommand,
  { readonly type: 'HoldCredits' | 'RaiseHold' | 'SettleHold' | 'ReleaseHold' }
>;

const decideOnHold = (state: AccountState, command: OnHold): AccountDecision => {
  switch (command.type) {
    case 'HoldCredits':
      return holdCredits(state, command);
    case 'RaiseHold':
      return raiseHold(state, command);
    case 'SettleHold':
      return settleHold(state, command);
    case 'ReleaseHold':
      return releaseHold(state, command);
  }
};

const decide = (state: AccountState, command: AccountCommand): AccountDecision => {
  switch (command.type) {
    case 'OpenAccount':
      return openAccount(state, command);
    case 'SetPlan':
      return setPlan(state, command);
    case 'GrantCredits':
      return grantCredits(state, command);
    case 'RefundCredits':
      return refundCredits(state, command);
    case 'AdjustCredits':
      return adjustCredits(state, command);
    case 'ChargeCredits':
      return chargeCredits(state, command);
    default:
      return decideOnHold(state, command);
  }
};

export type AccountKind = StreamKind<AccountState, AccountCommand, AccountEvent, AccountRejection>;

/** Every rule about a tenant's credits. */
export const account: Decider<AccountKind> = {
  initialState: NEW_ACCOUNT,
  decide,
  evolve,
};
