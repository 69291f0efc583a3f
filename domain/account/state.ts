import { Map as ImmutableMap } from 'immutable';
import type { Credits } from '../kernel/units.ts';
import { minus, NO_CREDITS } from '../kernel/units.ts';
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
  /** Hold of each operation that has an open one or was billed lately; `RELEASED` of one that was given up lately. */
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
