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

/** Billed operations that are remembered: enough for the retries of any client, and a small state. */
export const BILLED_OPERATIONS_MAX = 1_000;

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
  /** Hold of each operation that has an open one or was billed lately. */
  readonly operations: ImmutableMap<string, string>;
  /** The operations billed last, in a ring of `BILLED_OPERATIONS_MAX` places, by place. */
  readonly billed: ImmutableMap<string, string>;
  /** Operations billed so far. */
  readonly billed_count: number;
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
  billed: ImmutableMap(),
  billed_count: 0,
};

/** Credits that a command may take: balance − open holds. */
export const availableIn = (state: AccountState): Credits => minus(state.balance, state.held);
