import { Map as ImmutableMap } from 'immutable';
import { type Credits, minus, NO_CREDITS, plus } from '../kernel/amounts.ts';
import { type AccountEvent, type AccountEventOf, paymentKey, type Plan } from './messages.ts';
import type { CommandMeta } from '../kernel/decider.ts';

/** A sale and what of it was refunded so far. */
export interface SaleState {
  readonly sale: AccountEventOf<'CreditsGranted'>['data'];
  readonly refunded_credits: Credits;
  readonly refunded_gross_minor: number;
  readonly refunded_vat_minor: number;
  readonly refunded_fee_minor: number;
}

/** Operations that are remembered after their hold was closed: enough for the retries of any client. */
export const CLOSED_OPERATIONS_MAX = 1_000;

/** In the place of a hold: there was one, and it was released. */
export const RELEASED = '';

/**
 * What an account remembers in order to decide. Persistent maps: a batch is decided on successors of
 * one state, and the old state stays valid when the append conflicts. Keys of `sales` and `refunds`
 * are payment keys (`payment/identity.ts`), of `holds` hold IDs, of the others idempotency keys.
 */
export interface AccountState {
  readonly opened: boolean;
  readonly tenant_id: string | null;
  readonly plan: Plan;
  readonly balance: Credits;
  readonly held: Credits;
  readonly purchased: Credits;
  readonly adjusted: Credits;
  readonly used: Credits;
  readonly free_pages_used: number;
  readonly free_pages_held: number;
  readonly sales: ImmutableMap<string, SaleState>;
  /** Payment key of a sale by its grant ID. */
  readonly saleKeys: ImmutableMap<string, string>;
  readonly refunds: ImmutableMap<string, AccountEventOf<'CreditsRefunded'>['data']>;
  readonly adjustments: ImmutableMap<string, AccountEventOf<'CreditsAdjusted'>['data']>;
  readonly holds: ImmutableMap<string, AccountEventOf<'CreditsHeld'>['data']>;
  readonly charges: ImmutableMap<string, AccountEventOf<'CreditsBurned'>['data']>;
  /**
   * Hold of each operation that has an open one (the latest, if it has several) or was billed lately; `RELEASED` of one
   * that was given up lately.
   */
  readonly operations: ImmutableMap<string, string>;
  /** The operations whose hold was settled or released last, in a ring of `CLOSED_OPERATIONS_MAX`, by place. */
  readonly closed: ImmutableMap<string, string>;
  /** Holds closed so far. */
  readonly closed_count: number;
}

export const NEW_ACCOUNT: AccountState = {
  opened: false,
  tenant_id: null,
  plan: 'free',
  balance: NO_CREDITS,
  held: NO_CREDITS,
  purchased: NO_CREDITS,
  adjusted: NO_CREDITS,
  used: NO_CREDITS,
  free_pages_used: 0,
  free_pages_held: 0,
  sales: ImmutableMap(),
  saleKeys: ImmutableMap(),
  refunds: ImmutableMap(),
  adjustments: ImmutableMap(),
  holds: ImmutableMap(),
  charges: ImmutableMap(),
  operations: ImmutableMap(),
  closed: ImmutableMap(),
  closed_count: 0,
};

/** Credits that a command may take: balance − open holds. */
export const availableIn = (state: AccountState): Credits => minus(state.balance, state.held);

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

/** Whether an operation was held again after its hold was closed. */
const isHeld = ({ operations, holds }: AccountState, operation: string): boolean =>
  holds.get(operations.get(operation) ?? '')?.operation_id === operation;

const released = (state: AccountState, holdId: string): AccountState => {
  const operation = state.holds.get(holdId)?.operation_id;
  const open = withoutHold(state, holdId);
  if (operation === undefined) return open;
  if (open.operations.get(operation) !== holdId) return closed(open, operation);
  const other = open.holds.find((hold) => hold.operation_id === operation);
  return closed(
    { ...open, operations: open.operations.set(operation, other?.hold_id ?? RELEASED) },
    operation,
  );
};

const settled = (state: AccountState, operation: string, holdId: string): AccountState => {
  const open = withoutHold(state, holdId);
  return closed({ ...open, operations: open.operations.set(operation, holdId) }, operation);
};

const burned = (state: AccountState, burn: AccountEventOf<'CreditsBurned'>['data']): AccountState => {
  const open = burn.hold_id === null ? state : settled(state, burn.operation_id, burn.hold_id);
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

/** The event that opens an account, when this command is its first; nothing otherwise. */
export const opening = (
  state: AccountState,
  tenantId: string,
  { now }: CommandMeta,
): readonly AccountEvent[] =>
  state.opened ? [] : [{ type: 'AccountOpened', data: { tenant_id: tenantId, created_at: now } }];
