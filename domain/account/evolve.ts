import { minus, plus } from '../kernel/units.ts';
import { paymentKeyOf } from '../payment/identity.ts';
import type { AccountEvent, AccountEventOf } from './events.ts';
import { CLOSED_HOLDS_MAX, type AccountState, type ClosedHold } from './state.ts';

type DataOf<Type extends AccountEvent['type']> = AccountEventOf<Type>['data'];

/** Remembers an event. It holds no rule and asks no clock: what was recorded is what happened. */
export const evolve = (state: AccountState, event: AccountEvent): AccountState => {
  switch (event.type) {
    case 'AccountOpened':
      return { ...state, opened: true, tenant_id: event.data.tenant_id };
    case 'PlanSet':
      return { ...state, plan: event.data.plan };
    case 'CreditsGranted':
      return granted(state, event.data);
    case 'CreditsRefunded':
      return refunded(state, event.data);
    case 'CreditsAdjusted':
      return adjusted(state, event.data);
    case 'CreditsHeld':
      return held(state, event.data);
    case 'HoldReleased':
      return closed(state, event.data.hold_id, null);
    case 'CreditsBurned':
      return burned(state, event.data);
  }
};

const granted = (state: AccountState, sale: DataOf<'CreditsGranted'>): AccountState => {
  const key = paymentKeyOf(sale);
  const sold = {
    sale,
    refunded_credits: minus(sale.credits, sale.credits),
    refunded_gross_minor: 0,
    refunded_vat_minor: 0,
    refunded_fee_minor: 0,
  };
  return {
    ...state,
    balance: plus(state.balance, sale.credits),
    purchased: plus(state.purchased, sale.credits),
    sales: state.sales.set(key, sold),
    grants: state.grants.set(sale.grant_id, key),
  };
};

const refunded = (state: AccountState, refund: DataOf<'CreditsRefunded'>): AccountState => {
  const saleKey = state.grants.get(refund.grant_id);
  const sold = saleKey === undefined ? undefined : state.sales.get(saleKey);
  if (saleKey === undefined || sold === undefined)
    throw new Error(`refund ${refund.refund_id} names grant ${refund.grant_id}, which is no sale here`);
  return {
    ...state,
    balance: minus(state.balance, refund.credits),
    purchased: minus(state.purchased, refund.credits),
    sales: state.sales.set(saleKey, {
      sale: sold.sale,
      refunded_credits: plus(sold.refunded_credits, refund.credits),
      refunded_gross_minor: sold.refunded_gross_minor + refund.gross_amount_minor,
      refunded_vat_minor: sold.refunded_vat_minor + refund.vat_amount_minor,
      refunded_fee_minor: sold.refunded_fee_minor + refund.provider_fee_minor,
    }),
    refunds: state.refunds.set(paymentKeyOf(refund), refund),
  };
};

const adjusted = (state: AccountState, adjustment: DataOf<'CreditsAdjusted'>): AccountState => ({
  ...state,
  balance: plus(state.balance, adjustment.credits),
  adjusted: plus(state.adjusted, adjustment.credits),
  adjustments:
    adjustment.idempotency_key === null
      ? state.adjustments
      : state.adjustments.set(adjustment.idempotency_key, adjustment),
});

const held = (state: AccountState, hold: DataOf<'CreditsHeld'>): AccountState => ({
  ...state,
  held: plus(state.held, hold.credits),
  free_pages_held: state.free_pages_held + hold.free_pages,
  holds: state.holds.set(hold.hold_id, hold),
  operations: state.operations.set(hold.operation_id, hold.hold_id),
});

const burned = (state: AccountState, burn: DataOf<'CreditsBurned'>): AccountState => {
  const before = burn.hold_id === null ? state : closed(state, burn.hold_id, burn.usage_id);
  return {
    ...before,
    balance: minus(before.balance, burn.credits),
    used: plus(before.used, burn.credits),
    free_pages_used: before.free_pages_used + burn.free_pages,
    charges: burn.idempotency_key === null ? before.charges : before.charges.set(burn.idempotency_key, burn),
  };
};

/** A hold ends. A released operation may hold again; a billed one is remembered as billed. */
const closed = (state: AccountState, hold_id: string, usage_id: string | null): AccountState => {
  const hold = state.holds.get(hold_id);
  if (hold === undefined) throw new Error(`hold ${hold_id} ends, but is not open here`);
  const ended = {
    ...state,
    held: minus(state.held, hold.credits),
    free_pages_held: state.free_pages_held - hold.free_pages,
    holds: state.holds.remove(hold_id),
    operations: usage_id === null ? state.operations.remove(hold.operation_id) : state.operations,
  };
  return rememberClosed(ended, hold_id, { operation_id: hold.operation_id, usage_id });
};

const rememberClosed = (state: AccountState, hold_id: string, ended: ClosedHold): AccountState => {
  const next = { ...state, closed: state.closed.set(hold_id, ended) };
  if (next.closed.size <= CLOSED_HOLDS_MAX) return next;
  const oldest = next.closed.keySeq().first(hold_id);
  const { operation_id } = next.closed.get(oldest, ended);
  const { operations } = next;
  return {
    ...next,
    closed: next.closed.remove(oldest),
    operations: operations.get(operation_id) === oldest ? operations.remove(operation_id) : operations,
  };
};
