import { accept, reject, type Decision } from '../kernel/decider.ts';
import type { Credits } from '../kernel/units.ts';
import type { AccountRejection } from './commands.ts';
import type { AccountEvent } from './events.ts';
import type { AccountState } from './state.ts';

export type AccountDecision = Decision<AccountEvent, AccountRejection>;

/** A command that was carried out before: it yields no events, and its outcome is in the state. */
export const repeated = (): AccountDecision => accept<AccountEvent>();

/** The same identity with another payload. */
export const reused = (): AccountDecision => reject({ code: 'idempotency_key_reused' });

/** Repeat or abuse of an identity that has taken effect before. */
export const sameAgain = (
  earlier: { readonly fingerprint: string | null },
  { fingerprint }: { readonly fingerprint: string },
): AccountDecision => (earlier.fingerprint === fingerprint ? repeated() : reused());

/** Which total a posting moves, and by how much. */
export interface Posting {
  readonly total: 'purchased' | 'adjusted' | 'used';
  readonly delta: number;
}

/** Whether balance and total stay within whole numbers that JSON carries exactly. */
export const fits = (state: AccountState, { total, delta }: Posting): boolean =>
  Number.isSafeInteger(state[total] + delta) &&
  Number.isSafeInteger(state.balance + (total === 'used' ? -delta : delta));

/** A command's data as an event records it: whose account it is, the stream says. */
export const withoutTenant = <Data extends { readonly tenant_id: string }>({
  tenant_id,
  ...data
}: Data): Omit<Data, 'tenant_id'> => data;

/** Whether a command may take so many credits. Taking none is always possible, also from a debt. */
export const covers = (available: Credits, wanted: number): boolean => wanted <= 0 || wanted <= available;
