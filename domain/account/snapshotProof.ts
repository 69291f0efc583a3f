import type { Credits } from '../kernel/units.ts';
import { asCredits, minus, NO_CREDITS, plus } from '../kernel/units.ts';
import { paymentKey } from '../payment/identity.ts';
import type { AccountEvent, AccountEventOf } from './events.ts';
import type { AccountState } from './state.ts';

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
