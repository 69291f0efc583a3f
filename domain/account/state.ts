import { Map as ImmutableMap, OrderedMap } from 'immutable';
import type { Credits } from '../kernel/units.ts';
import { NO_CREDITS } from '../kernel/units.ts';
import type { AccountEventOf } from './events.ts';
import type { Plan } from './words.ts';

/** A sale and what of it was refunded so far. */
export interface SaleState {
  readonly sale: AccountEventOf<'CreditsGranted'>['data'];
  readonly refunded_credits: Credits;
  readonly refunded_gross_minor: number;
  readonly refunded_vat_minor: number;
  readonly refunded_fee_minor: number;
}

/** How a hold ended: by a burn (`usage_id`) or unspent (null). */
export interface ClosedHold {
  readonly operation_id: string;
  readonly usage_id: string | null;
}

/** Closed holds that are remembered, the latest ones: enough for any retry of a request. */
export const CLOSED_HOLDS_MAX = 1_000;

/**
 * What an account remembers in order to decide. Persistent maps: a batch is decided on successors of
 * one state, and the old state stays valid when the append conflicts. Keys of `sales` and `refunds`
 * are payment keys (`payment/identity.ts`), of `holds` and `closed` hold IDs, of `operations` operation IDs,
 * of the others idempotency keys.
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
  /** Payment key of each sale, by grant ID. */
  readonly grants: ImmutableMap<string, string>;
  readonly refunds: ImmutableMap<string, AccountEventOf<'CreditsRefunded'>['data']>;
  readonly adjustments: ImmutableMap<string, AccountEventOf<'CreditsAdjusted'>['data']>;
  readonly holds: ImmutableMap<string, AccountEventOf<'CreditsHeld'>['data']>;
  readonly charges: ImmutableMap<string, AccountEventOf<'CreditsBurned'>['data']>;
  /** Hold of each operation that has an open one, or was billed lately. */
  readonly operations: ImmutableMap<string, string>;
  /** The last `CLOSED_HOLDS_MAX` holds closed, oldest first: a late repeat is told from a stranger. */
  readonly closed: OrderedMap<string, ClosedHold>;
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
  grants: ImmutableMap(),
  refunds: ImmutableMap(),
  adjustments: ImmutableMap(),
  holds: ImmutableMap(),
  charges: ImmutableMap(),
  operations: ImmutableMap(),
  closed: OrderedMap(),
};

/** Credits that a command may take: balance − open holds. */
export const availableIn = (state: AccountState): Credits => (state.balance - state.held) as Credits;
