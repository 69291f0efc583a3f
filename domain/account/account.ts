import { accept, type Decider, type Decision, reject, type StreamKind } from '../kernel/decider.ts';
import { asCredits, type Credits, minus, NO_CREDITS, plus, staysExact } from '../kernel/amounts.ts';
import {
  type AccountCommand,
  type AccountEvent,
  type AccountEventOf,
  type AccountRejection,
  type AdjustCredits,
  type OpenAccount,
  paymentKey,
  type SetPlan,
} from './messages.ts';
import { type AccountState, availableIn, evolve, NEW_ACCOUNT, opening } from './state.ts';
import { chargeCredits, holdCredits, releaseHold, settleHold } from './holds.ts';
import { grantCredits, refundCredits } from './payments.ts';

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

type OnHold = Extract<AccountCommand, { readonly type: 'HoldCredits' | 'SettleHold' | 'ReleaseHold' }>;

const decideOnHold = (state: AccountState, command: OnHold): AccountDecision => {
  switch (command.type) {
    case 'HoldCredits':
      return holdCredits(state, command);
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

/** The balance that an event carries; undefined for one that does not move it. */
export const balanceAfter = ({ type, data }: AccountEvent): Credits | undefined => {
  switch (type) {
    case 'AccountOpened':
      return NO_CREDITS;
    case 'CreditsGranted':
    case 'CreditsRefunded':
    case 'CreditsAdjusted':
    case 'CreditsBurned':
      return data.balance_after;
    case 'PlanSet':
    case 'CreditsHeld':
    case 'HoldReleased':
      return undefined;
  }
};

type Data<Type extends AccountEvent['type']> = AccountEventOf<Type>['data'];

const remembersCharge = (
  { charges }: AccountState,
  { idempotency_key: key, credits }: Data<'CreditsBurned'>,
) => key === null || charges.get(key)?.credits === credits;

const remembersAdjustment = (
  { adjustments }: AccountState,
  { idempotency_key: key, credits }: Data<'CreditsAdjusted'>,
) => key === null || adjustments.get(key)?.credits === credits;

const remembersSale = ({ sales }: AccountState, sale: Data<'CreditsGranted'>): boolean =>
  sales.get(paymentKey(sale))?.sale.credits === sale.credits;

const remembersRefund = ({ refunds }: AccountState, refund: Data<'CreditsRefunded'>): boolean =>
  refunds.get(paymentKey(refund))?.credits === refund.credits;

const remembersHold = ({ holds }: AccountState, hold: Data<'CreditsHeld'>): boolean =>
  holds.get(hold.hold_id)?.credits === hold.credits;

const isClosed = ({ holds }: AccountState, holdId: string | null): boolean =>
  holdId === null || !holds.has(holdId);

/** Whether an account whose last event is this one would remember it so. */
export const remembersLast = (state: AccountState, { type, data }: AccountEvent): boolean => {
  switch (type) {
    case 'AccountOpened':
      return state.tenant_id === data.tenant_id;
    case 'PlanSet':
      return state.plan === data.plan;
    case 'CreditsGranted':
      return remembersSale(state, data);
    case 'CreditsRefunded':
      return remembersRefund(state, data);
    case 'CreditsAdjusted':
      return remembersAdjustment(state, data);
    case 'CreditsHeld':
      return remembersHold(state, data);
    case 'HoldReleased':
      return isClosed(state, data.hold_id);
    case 'CreditsBurned':
      return isClosed(state, data.hold_id) && remembersCharge(state, data);
  }
};

/** Whether the sums of a state agree with each other: balance, held credits and held free pages. */
export const isConsistent = (state: AccountState): boolean => {
  const holds = [...state.holds.values()];
  const held = holds.reduce((sum, { credits }) => plus(sum, credits), asCredits(0));
  const freePages = holds.reduce((sum, { free_pages }) => sum + free_pages, 0);
  return (
    state.balance === minus(plus(state.purchased, state.adjusted), state.used) &&
    state.held === held &&
    state.free_pages_held === freePages
  );
};
