import { accept } from '../kernel/decider.ts';
import type { OpenAccount, SetPlan } from './commands.ts';
import { repeated, type AccountDecision } from './decision.ts';
import type { AccountEvent, AccountEventOf } from './events.ts';
import type { AccountState } from './state.ts';
import type { Plan } from './words.ts';

/** What every command of an account carries. */
interface OnAccount {
  readonly data: { readonly tenant_id: string };
  readonly meta: { readonly now: string };
}

/** The event before all others, where this is the account's first. */
export const opening = (
  state: AccountState,
  { data, meta }: OnAccount,
): readonly AccountEventOf<'AccountOpened'>[] =>
  state.opened ? [] : [{ type: 'AccountOpened', data: { tenant_id: data.tenant_id, created_at: meta.now } }];

/** The events of an accepted command, opening the account first where it is not open yet. */
export const accepted = (
  state: AccountState,
  command: OnAccount,
  ...events: readonly AccountEvent[]
): AccountDecision => accept<AccountEvent>(...opening(state, command), ...events);

export const openAccount = (state: AccountState, command: OpenAccount): AccountDecision =>
  state.opened ? repeated() : accepted(state, command);

/** The plan that the account has already is no event, but the account exists from now on. */
export const setPlan = (state: AccountState, command: SetPlan): AccountDecision => {
  const { plan, reason } = command.data;
  if (plan === state.plan) return accepted(state, command);
  return accepted(state, command, planSet(state.plan, { plan, reason, set_at: command.meta.now }));
};

export const planSet = (
  previous_plan: Plan,
  change: { readonly plan: Plan; readonly reason: string | null; readonly set_at: string },
): AccountEventOf<'PlanSet'> => ({ type: 'PlanSet', data: { ...change, previous_plan } });
