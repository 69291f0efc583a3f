import { type Credits, NO_CREDITS, plus } from '../kernel/amounts.ts';
import { accept, type CommandMeta, type Decision, reject } from '../kernel/decider.ts';
import {
  BUDGETS_MAX,
  LEVELS_IN_ALL_MAX,
  type BudgetReached,
  type BudgetSet,
  type ChangeBudget,
  type RemoveBudget,
  type SetBudget,
} from './budgetMessages.ts';
import {
  budgetAt,
  budgetIn,
  type BudgetState,
  counts,
  endOf,
  isToldRefused,
  isWhole,
  leftOf,
  refusedName,
  type Scoped,
} from './budgetTotals.ts';
import type { AccountEvent, AccountRejection } from './messages.ts';
import { type AccountState, opening } from './state.ts';

type BudgetDecision = Decision<AccountEvent, AccountRejection>;

/**
 * The budget that says how far a key may raise its own: the least of the whole tenant that refuses, and has the same
 * period in the same zone.
 */
export const parentOf = ({ budgets }: AccountState, of: BudgetSet): BudgetSet | undefined => {
  if (isWhole(of)) return undefined;
  let least: BudgetSet | undefined;
  for (const { budget: one } of budgets) {
    const isParent =
      isWhole(one) &&
      one.on_reached === 'refuse' &&
      one.period === of.period &&
      one.time_zone === of.time_zone;
    if (isParent && (least === undefined || one.limit_credits < least.limit_credits)) least = one;
  }
  return least;
};

/** A key with a budget of its own manages none: it could lift what it is held to. */
const mayOnlyRead = ({ budgets }: AccountState, byKeyId: string | null): boolean =>
  byKeyId !== null && budgets.some(({ budget }) => budget.scope.key_id === byKeyId);

const readOnly = (parent?: BudgetSet): BudgetDecision =>
  reject({ code: 'budget_read_only', parent_limit_credits: parent?.limit_credits ?? null });

/** Whether the account has as many budgets or levels as it may have, with so many levels more. */
const isFull = ({ budgets }: AccountState, levels: number): boolean =>
  budgets.reduce((sum, { budget }) => sum + budget.alert_at.length, levels) > LEVELS_IN_ALL_MAX;

/** Makes a budget. The same again does nothing. */
export const setBudget = (state: AccountState, { data, meta }: SetBudget): BudgetDecision => {
  const { tenant_id, by_key_id, ...budget } = data;
  if (budgetIn(state.budgets, budget.budget_id) !== undefined) return accept();
  if (mayOnlyRead(state, by_key_id)) return readOnly();
  if (state.budgets.length >= BUDGETS_MAX || isFull(state, budget.alert_at.length))
    return reject({ code: 'too_many_budgets', max_budgets: BUDGETS_MAX });
  return accept(...opening(state, tenant_id, meta), {
    type: 'BudgetSet',
    data: { ...budget, set_at: meta.now },
  });
};

/** Whether it is no more than a key raising its own budget, up to the tenant's. */
const isOwnRaise = (
  budget: BudgetSet,
  { by_key_id, tenant_id: _, budget_id: __, ...changed }: ChangeBudget['data'],
  parent: BudgetSet | undefined,
): boolean => {
  const { limit_credits: limit = NO_CREDITS, ...others } = changed;
  const isMore = limit > budget.limit_credits && parent !== undefined && limit <= parent.limit_credits;
  return isMore && Object.keys(others).length === 0 && budget.scope.key_id === by_key_id;
};

/** Changes a budget; what it counts stays. */
export const changeBudget = (state: AccountState, { data, meta }: ChangeBudget): BudgetDecision => {
  const { tenant_id: _, by_key_id, budget_id, ...changed } = data;
  const before = budgetIn(state.budgets, budget_id)?.budget;
  if (before === undefined) return reject({ code: 'budget_not_found' });
  const parent = parentOf(state, before);
  if (mayOnlyRead(state, by_key_id) && !isOwnRaise(before, data, parent)) return readOnly(parent);
  const after = { ...before, ...changed };
  if (JSON.stringify(after) === JSON.stringify(before)) return accept();
  const more = after.alert_at.length - before.alert_at.length;
  if (more > 0 && isFull(state, more)) return reject({ code: 'too_many_budgets', max_budgets: BUDGETS_MAX });
  return accept({ type: 'BudgetSet', data: { ...after, set_at: meta.now } });
};

/** Removes a budget, and all that it counted. */
export const removeBudget = (state: AccountState, { data, meta }: RemoveBudget): BudgetDecision => {
  const { budget_id, by_key_id } = data;
  if (budgetIn(state.budgets, budget_id) === undefined) return reject({ code: 'budget_not_found' });
  if (mayOnlyRead(state, by_key_id)) return readOnly();
  return accept({ type: 'BudgetRemoved', data: { budget_id, removed_at: meta.now } });
};

/** Work that asks for credits. */
export interface Asking extends Scoped, Pick<BudgetReached, 'operation_id' | 'idempotency_key'> {
  readonly credits: Credits;
}

const standingOf = ({ budget, period_start, used, held }: BudgetState) => ({
  budget_id: budget.budget_id,
  period_start,
  limit_credits: budget.limit_credits,
  used_credits: used,
  held_credits: held,
});

const reachedBy = (state: BudgetState, asking: Asking, refused_at: string): BudgetReached => {
  const { operation_id, idempotency_key, project_id, task_id, api_key_id, tags } = asking;
  return {
    ...standingOf(state),
    required_credits: asking.credits,
    resets_at: state.resets_at,
    operation_id,
    idempotency_key,
    ...(project_id !== undefined && { project_id }),
    ...(task_id !== undefined && { task_id }),
    ...(api_key_id != null && { api_key_id }),
    ...(tags !== undefined && Object.keys(tags).length > 0 && { tags: { ...tags } }),
    refused_at,
  };
};

/** A refusal as its command's caller is told it. */
export const budgetRejection = (data: BudgetReached): AccountRejection => ({
  code: 'budget_reached',
  budget_id: data.budget_id,
  limit_credits: data.limit_credits,
  used_credits: data.used_credits,
  held_credits: data.held_credits,
  required_credits: data.required_credits,
  resets_at: data.resets_at,
});

/**
 * What the first budget says that the work does not fit; undefined: it fits all. The refusal is an event, but for work
 * that was refused before and once there are enough of them in the period.
 */
export const refusedByBudget = (
  state: AccountState,
  asking: Asking,
  { now }: CommandMeta,
): BudgetDecision | undefined => {
  if (asking.credits === NO_CREDITS) return undefined;
  for (const found of state.budgets) {
    if (!counts(found, asking)) continue;
    const budget = budgetAt(found, now);
    if (budget.budget.on_reached === 'notify' || asking.credits <= leftOf(budget)) continue;
    const data = reachedBy(budget, asking, now);
    return isToldRefused(budget, refusedName(asking))
      ? reject(budgetRejection(data))
      : accept({ type: 'BudgetReached', data });
  }
  return undefined;
};

type Taking = Extract<AccountEvent, { readonly type: 'CreditsHeld' | 'CreditsBurned' }>;

/** Every level that a budget has by now reached for the first time in its period. */
const levelsReached = (state: BudgetState, alerted_at: string): readonly AccountEvent[] => {
  const total = plus(state.used, state.held);
  return state.levels
    .filter(({ level, credits }) => total >= credits && !state.alerted.includes(level))
    .map(({ level }) => ({
      type: 'BudgetAlerted',
      data: { ...standingOf(state), level, ...endOf(state, alerted_at), alerted_at },
    }));
};

/** Whether a level may be reached by so many credits more. */
const isNear = ({ levels, alerted, used, held }: BudgetState, credits: Credits): boolean =>
  levels.some((one) => one.credits <= used + held + credits && !alerted.includes(one.level));

/** A hold or burn with the alerts that it causes. `after`: the account after an event. */
export const withAlerts = (
  state: AccountState,
  event: Taking,
  after: (state: AccountState, event: AccountEvent) => AccountState,
): readonly AccountEvent[] => {
  const { credits, created_at } = event.data;
  if (credits === NO_CREDITS) return [event];
  // Most are far from any level: then nothing more has to be worked out.
  const isAny = state.budgets.some(
    (one) => counts(one, event.data) && isNear(budgetAt(one, created_at), credits),
  );
  if (!isAny) return [event];
  const counting = after(state, event).budgets.filter((budget) => counts(budget, event.data));
  return [event, ...counting.flatMap((budget) => levelsReached(budget, created_at))];
};
