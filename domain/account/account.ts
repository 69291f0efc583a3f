import type { BudgetCommand } from './budgetMessages.ts';
import { accept, type Decider, type Decision, reject, type StreamKind } from '../kernel/decider.ts';
import { asCredits, type Credits, minus, NO_CREDITS, plus, staysExact, negated } from '../kernel/amounts.ts';
import type {
  AccountCommand,
  AccountEvent,
  AccountEventOf,
  AccountRejection,
  AdjustCredits,
  OpenAccount,
  SetPlan,
  ReceiveCredits,
  SendCredits,
} from './messages.ts';
import {
  type AccountState,
  adjustmentAt,
  availableIn,
  evolve,
  isNoted,
  NEW_ACCOUNT,
  opening,
  recall,
  receivedAt,
  sentAt,
} from './state.ts';
import { counts } from './budgetTotals.ts';
import { changeBudget, removeBudget, setBudget } from './budgets.ts';
import { chargeCredits, holdCredits, releaseHold, settleHold } from './holds.ts';
import { grantCredits, refundCredits } from './payments.ts';
import { addSaleDetails, bookSaleRate } from './saleDetails.ts';
import { reverseRefund, tellDispute } from './reversals.ts';

type AccountDecision = Decision<AccountEvent, AccountRejection>;

/** Credits for another tenant: at most the available ones, all of these where none are named. */
const sendCredits = (state: AccountState, { data, meta }: SendCredits): AccountDecision => {
  if (data.to_tenant_id === data.tenant_id) return reject({ code: 'transfer_to_itself' });
  const earlier = data.idempotency_key === null ? undefined : sentAt(state, data.idempotency_key);
  if (earlier?.fingerprint === data.fingerprint) return accept();
  if (earlier !== undefined) return reject({ code: 'idempotency_key_reused' });

  const available_credits = availableIn(state);
  const credits = data.credits ?? available_credits;
  if (credits > available_credits || available_credits < 1)
    return reject({ code: 'insufficient_balance', available_credits });
  if (!staysExact(state.adjusted, negated(credits))) return reject({ code: 'credits_out_of_range' });

  const { tenant_id: _, ...transfer } = data;
  return accept({
    type: 'CreditsTransferredOut',
    data: { ...transfer, credits, created_at: meta.now, balance_after: minus(state.balance, credits) },
  });
};

/** What another tenant sent arrives once and not before it left, in an account that is opened by it if need be. */
const receiveCredits = (state: AccountState, { data, meta }: ReceiveCredits): AccountDecision => {
  if (receivedAt(state, data.transfer_id) !== undefined) return accept();
  if (data.from_tenant_id === data.tenant_id) return reject({ code: 'transfer_to_itself' });
  if (meta.now < data.left_at) return reject({ code: 'transfer_too_early' });
  const isExact = [state.balance, state.adjusted].every((total) => staysExact(total, data.credits));
  if (!isExact) return reject({ code: 'credits_out_of_range' });

  const { tenant_id, left_at: _, ...transfer } = data;
  return accept(...opening(state, tenant_id, meta), {
    type: 'CreditsTransferredIn',
    data: { ...transfer, created_at: meta.now, balance_after: plus(state.balance, data.credits) },
  });
};

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
  const earlier = data.idempotency_key === null ? undefined : adjustmentAt(state, data.idempotency_key);
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

const decideOnBudget = (state: AccountState, command: BudgetCommand): AccountDecision => {
  switch (command.type) {
    case 'SetBudget':
      return setBudget(state, command);
    case 'ChangeBudget':
      return changeBudget(state, command);
    case 'RemoveBudget':
      return removeBudget(state, command);
  }
};

type OnCredits =
  | Extract<
      AccountCommand,
      { readonly type: 'SendCredits' | 'ReceiveCredits' | 'AdjustCredits' | 'ChargeCredits' }
    >
  | OnHold
  | BudgetCommand;

/** What neither opens the account nor is about a sale. */
const decideOnCredits = (state: AccountState, command: OnCredits): AccountDecision => {
  switch (command.type) {
    case 'SendCredits':
      return sendCredits(state, command);
    case 'ReceiveCredits':
      return receiveCredits(state, command);
    case 'AdjustCredits':
      return adjustCredits(state, command);
    case 'ChargeCredits':
      return chargeCredits(state, command);
    case 'HoldCredits':
    case 'SettleHold':
    case 'ReleaseHold':
      return decideOnHold(state, command);
    default:
      return decideOnBudget(state, command);
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
    case 'AddSaleDetails':
      return addSaleDetails(state, command);
    case 'BookSaleRate':
      return bookSaleRate(state, command);
    case 'RefundCredits':
      return refundCredits(state, command);
    case 'ReverseRefund':
      return reverseRefund(state, command);
    case 'TellDispute':
      return tellDispute(state, command);
    default:
      return decideOnCredits(state, command);
  }
};

export type AccountKind = StreamKind<AccountState, AccountCommand, AccountEvent, AccountRejection>;

/** Every rule about a tenant's credits. */
export const account: Decider<AccountKind> = {
  initialState: NEW_ACCOUNT,
  decide,
  evolve,
  recall,
};

/** The balance that an event carries; undefined for one that does not move it. */
export const balanceAfter = ({ type, data }: AccountEvent): Credits | undefined => {
  if (type === 'AccountOpened') return NO_CREDITS;
  return 'balance_after' in data ? data.balance_after : undefined;
};

type Data<Type extends AccountEvent['type']> = AccountEventOf<Type>['data'];

const remembersHold = ({ holds }: AccountState, hold: Data<'CreditsHeld'>): boolean =>
  holds.get(hold.hold_id)?.credits === hold.credits;

const isClosed = ({ holds }: AccountState, holdId: string | null): boolean =>
  holdId === null || !holds.has(holdId);

/** Whether an account whose last event is this one, at this revision, would remember it so. */
export const remembersLast = (state: AccountState, event: AccountEvent, revision: bigint): boolean =>
  BigInt(state.history.events) === revision + 1n && isNoted(state, event) && remembersFacts(state, event);

const remembersFacts = (state: AccountState, { type, data }: AccountEvent): boolean => {
  switch (type) {
    case 'AccountOpened':
      return state.tenant_id === data.tenant_id;
    case 'PlanSet':
      return state.plan === data.plan;
    case 'CreditsGranted':
      return state.hasSales;
    case 'CreditsHeld':
      return remembersHold(state, data);
    case 'HoldReleased':
    case 'CreditsBurned':
      return isClosed(state, data.hold_id);
    default:
      return true;
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
    state.free_pages_held === freePages &&
    holdsCounted(state)
  );
};

/** Whether what each budget says is held is what open holds say. */
const holdsCounted = ({ budgets, holds }: AccountState): boolean => {
  const open = [...holds.values()];
  return budgets.every(
    (budget) =>
      budget.held === open.reduce((sum, hold) => (counts(budget, hold) ? sum + hold.credits : sum), 0),
  );
};
