import { paymentKey } from '../payment/identity.ts';
import { minus, plus } from '../kernel/units.ts';
import type { AccountEvent, AccountEventOf } from './events.ts';
import { CLOSED_OPERATIONS_MAX, RELEASED, type AccountState } from './state.ts';

const granted = (state: AccountState, sale: AccountEventOf<'CreditsGranted'>['data']): AccountState => ({
  ...state,
  balance: plus(state.balance, sale.credits),
  purchased: plus(state.purchased, sale.credits),
  sales: state.sales.set(paymentKey(sale), {
    sale,
    refunded_credits: minus(sale.credits, sale.credits),
    refunded_gross_minor: 0,
    refunded_vat_minor: 0,
    refunded_fee_minor: 0,
  }),
  saleKeys: state.saleKeys.set(sale.grant_id, paymentKey(sale)),
});

const refunded = (state: AccountState, refund: AccountEventOf<'CreditsRefunded'>['data']): AccountState => {
  const saleKey = state.saleKeys.get(refund.grant_id) ?? '';
  const of = state.sales.get(saleKey);
  if (of === undefined) throw new Error(`refund ${refund.refund_id} names no sale of this account`);
  return {
    ...state,
    balance: minus(state.balance, refund.credits),
    purchased: minus(state.purchased, refund.credits),
    refunds: state.refunds.set(paymentKey(refund), refund),
    sales: state.sales.set(saleKey, {
      sale: of.sale,
      refunded_credits: plus(of.refunded_credits, refund.credits),
      refunded_gross_minor: of.refunded_gross_minor + refund.gross_amount_minor,
      refunded_vat_minor: of.refunded_vat_minor + refund.vat_amount_minor,
      refunded_fee_minor: of.refunded_fee_minor + refund.provider_fee_minor,
    }),
  };
};

const adjusted = (state: AccountState, data: AccountEventOf<'CreditsAdjusted'>['data']): AccountState => ({
  ...state,
  balance: plus(state.balance, data.credits),
  adjusted: plus(state.adjusted, data.credits),
  adjustments:
    data.idempotency_key === null ? state.adjustments : state.adjustments.set(data.idempotency_key, data),
});

const held = (state: AccountState, hold: AccountEventOf<'CreditsHeld'>['data']): AccountState => ({
  ...state,
  held: plus(state.held, hold.credits),
  free_pages_held: state.free_pages_held + hold.free_pages,
  holds: state.holds.set(hold.hold_id, hold),
  operations: state.operations.set(hold.operation_id, hold.hold_id),
});

/** Gives back what a hold had set aside; unknown holds change nothing. */
const withoutHold = (state: AccountState, holdId: string): AccountState => {
  const hold = state.holds.get(holdId);
  if (hold === undefined) return state;
  return {
    ...state,
    held: minus(state.held, hold.credits),
    free_pages_held: state.free_pages_held - hold.free_pages,
    holds: state.holds.delete(holdId),
  };
};

/** An operation whose hold is closed may not be held again, for as long as it is remembered; the oldest makes room. */
const closed = (state: AccountState, operation: string): AccountState => {
  const place = String(state.closed_count % CLOSED_OPERATIONS_MAX);
  const oldest = state.closed.get(place);
  const { operations } = state;
  const isForgotten = oldest !== undefined && oldest !== operation && !isHeld(state, oldest);
  return {
    ...state,
    operations: isForgotten ? operations.delete(oldest) : operations,
    closed: state.closed.set(place, operation),
    closed_count: state.closed_count + 1,
  };
};

/** Whether an operation was held anew after its hold was closed. */
const isHeld = ({ operations, holds }: AccountState, operation: string): boolean =>
  holds.get(operations.get(operation) ?? '')?.operation_id === operation;

const released = (state: AccountState, holdId: string): AccountState => {
  const operation = state.holds.get(holdId)?.operation_id;
  const open = withoutHold(state, holdId);
  if (operation === undefined) return open;
  const isOwn = open.operations.get(operation) === holdId;
  return closed(isOwn ? { ...open, operations: open.operations.set(operation, RELEASED) } : open, operation);
};

const burned = (state: AccountState, burn: AccountEventOf<'CreditsBurned'>['data']): AccountState => {
  const open = burn.hold_id === null ? state : closed(withoutHold(state, burn.hold_id), burn.operation_id);
  return {
    ...open,
    balance: minus(open.balance, burn.credits),
    used: plus(open.used, burn.credits),
    free_pages_used: open.free_pages_used + burn.free_pages,
    charges: burn.idempotency_key === null ? open.charges : open.charges.set(burn.idempotency_key, burn),
  };
};

/** What the account remembers of an event. It only remembers: every rule is in `decide`. */
export const evolve = (state: AccountState, { type, data }: AccountEvent): AccountState => {
  switch (type) {
    case 'AccountOpened':
      return { ...state, opened: true, tenant_id: data.tenant_id };
    case 'PlanSet':
      return { ...state, plan: data.plan };
    case 'CreditsGranted':
      return granted(state, data);
    case 'CreditsRefunded':
      return refunded(state, data);
    case 'CreditsAdjusted':
      return adjusted(state, data);
    case 'CreditsHeld':
      return held(state, data);
    case 'HoldReleased':
      return released(state, data.hold_id);
    case 'CreditsBurned':
      return burned(state, data);
  }
};
