import { Map as ImmutableMap } from 'immutable';
import { asCredits, type Credits, minus, NO_CREDITS, plus } from '../kernel/amounts.ts';
import { periodAt } from '../kernel/timeZones.ts';
import {
  type BudgetAlerted,
  type BudgetReached,
  type BudgetScope,
  type BudgetSet,
  REFUSALS_KEPT_MAX,
} from './budgetMessages.ts';

/** A level of a budget: reached once use and holds are so many credits. */
interface Level {
  readonly level: number;
  readonly credits: Credits;
}

/** A budget, and what counts towards it. */
export interface BudgetState {
  readonly budget: BudgetSet;
  readonly created_at: string;
  /** Of the period that `used` is of; null where that is `total`. */
  readonly period_start: string | null;
  readonly resets_at: string | null;
  /** Burned in this period. */
  readonly used: Credits;
  /** Held by open work, whenever it was held. */
  readonly held: Credits;
  readonly levels: readonly Level[];
  /** Levels that were reached in this period. */
  readonly alerted: readonly number[];
  /** The work that was refused in this period, as far as the log says it. */
  readonly refused: readonly string[];
}

/** The budgets of an account, with running totals. */
export interface Budgets {
  readonly budgets: ImmutableMap<string, BudgetState>;
  /** IDs of the budgets of each scope, the oldest first. */
  readonly budgetScopes: ImmutableMap<string, readonly string[]>;
}

/** An account without budgets. */
export const NO_BUDGETS: Budgets = { budgets: ImmutableMap(), budgetScopes: ImmutableMap() };

/** A hold, a burn, or what asks for one: what it is for. Holds of older releases do not say it. */
export interface Scoped {
  readonly project_id?: string | undefined;
  readonly task_id?: string | undefined;
  readonly api_key_id?: string | null | undefined;
  readonly tags?: Readonly<Record<string, string>> | undefined;
}

const WHOLE_TENANT = 'tenant';
const keyScope = (id: string): string => `key ${id}`;
const taskScope = (id: string): string => `task ${id}`;
const projectScope = (id: string): string => `project ${id}`;
const tagScope = (name: string, value: string): string => `tag ${name} ${value}`;

/** A scope as one text. */
export const scopeText = ({ key_id, project_id, task_id, tag }: BudgetScope): string => {
  if (key_id !== undefined) return keyScope(key_id);
  if (task_id !== undefined) return taskScope(task_id);
  if (tag !== undefined) return tagScope(tag.name, tag.value);
  return project_id === undefined ? WHOLE_TENANT : projectScope(project_id);
};

/** All scopes that something belongs to, the narrowest first. */
export const scopesOf = ({ project_id, task_id, api_key_id, tags }: Scoped): readonly string[] => {
  const scopes: string[] = [];
  if (api_key_id != null) scopes.push(keyScope(api_key_id));
  if (task_id !== undefined) scopes.push(taskScope(task_id));
  for (const name in tags) scopes.push(tagScope(name, tags[name] ?? ''));
  if (project_id !== undefined) scopes.push(projectScope(project_id));
  scopes.push(WHOLE_TENANT);
  return scopes;
};

/** Whether a budget counts it. */
export const counts = ({ scope }: Pick<BudgetSet, 'scope'>, of: Scoped): boolean =>
  scopesOf(of).includes(scopeText(scope));

/** The first whole number of credits at or above a part of a limit, exactly. */
const levelOf = (level: number, limit: Credits): Level => {
  const thousandths = BigInt(Math.round(level * 1000)) * BigInt(limit);
  return { level, credits: asCredits(Number((thousandths + 999n) / 1000n)) };
};

type Period = Pick<BudgetState, 'period_start' | 'resets_at'>;

const periodOf = ({ period, time_zone }: BudgetSet, at: string): Period => {
  if (period === 'total') return { period_start: null, resets_at: null };
  const { from, until } = periodAt(time_zone, period, at);
  return { period_start: from, resets_at: until };
};

/** The budget at a time: in a later period nothing is used yet. It never goes back to an earlier one. */
export const budgetAt = (state: BudgetState, at: string): BudgetState =>
  state.resets_at === null || at < state.resets_at
    ? state
    : { ...state, ...periodOf(state.budget, at), used: NO_CREDITS, alerted: [], refused: [] };

/** The budgets that count something, the narrowest first, of one scope the oldest first. */
export const budgetsOf = ({ budgets, budgetScopes }: Budgets, of: Scoped): readonly BudgetState[] => {
  const found: BudgetState[] = [];
  for (const scope of scopesOf(of))
    for (const id of budgetScopes.get(scope) ?? []) {
      const state = budgets.get(id);
      if (state !== undefined) found.push(state);
    }
  return found;
};

/** Budgets after something moved those that count it. */
const moved = (
  state: Budgets,
  { of, at }: { readonly of: Scoped; readonly at: string },
  move: (budget: BudgetState) => Partial<BudgetState>,
): Budgets['budgets'] => {
  let { budgets } = state;
  for (const one of budgetsOf(state, of)) {
    const now = budgetAt(one, at);
    budgets = budgets.set(one.budget.budget_id, { ...now, ...move(now) });
  }
  return budgets;
};

type Amount = Scoped & { readonly credits: Credits };

/** Budgets after a hold. Free pages count for nothing. */
export const budgetsHeld = (state: Budgets, hold: Amount, at: string): Budgets['budgets'] =>
  state.budgets.size === 0 || hold.credits === NO_CREDITS
    ? state.budgets
    : moved(state, { of: hold, at }, ({ held }) => ({ held: plus(held, hold.credits) }));

/** Budgets after a hold was closed: by a burn, or unspent. */
export const budgetsFreed = (state: Budgets, hold: Amount, at: string): Budgets['budgets'] =>
  state.budgets.size === 0 || hold.credits === NO_CREDITS
    ? state.budgets
    : moved(state, { of: hold, at }, ({ held }) => ({ held: minus(held, hold.credits) }));

/** Budgets after a burn, in the period of its time. */
export const budgetsUsed = (state: Budgets, burn: Amount, at: string): Budgets['budgets'] =>
  state.budgets.size === 0 || burn.credits === NO_CREDITS
    ? state.budgets
    : moved(state, { of: burn, at }, ({ used }) => ({ used: plus(used, burn.credits) }));

/** Budgets after one was made or changed. A new one counts what is held, and what is used from now on. */
export const budgetPut = (
  { budgets, budgetScopes }: Budgets,
  data: BudgetSet,
  held: () => Credits,
): Budgets => {
  const id = data.budget_id;
  const before = budgets.get(id);
  const levels = data.alert_at.map((level) => levelOf(level, data.limit_credits));
  if (before !== undefined) {
    const now = budgetAt(before, data.set_at);
    return { budgets: budgets.set(id, { ...now, budget: data, levels, refused: [] }), budgetScopes };
  }
  const scope = scopeText(data.scope);
  const made: BudgetState = {
    ...{ budget: data, created_at: data.set_at, levels, alerted: [], refused: [] },
    ...periodOf(data, data.set_at),
    ...{ used: NO_CREDITS, held: held() },
  };
  return {
    budgets: budgets.set(id, made),
    budgetScopes: budgetScopes.set(scope, [...(budgetScopes.get(scope) ?? []), id]),
  };
};

/** Budgets without one. */
export const budgetTaken = ({ budgets, budgetScopes }: Budgets, id: string): Budgets => {
  const budget = budgets.get(id)?.budget;
  if (budget === undefined) return { budgets, budgetScopes };
  const scope = scopeText(budget.scope);
  const others = (budgetScopes.get(scope) ?? []).filter((other) => other !== id);
  return {
    budgets: budgets.delete(id),
    budgetScopes: others.length === 0 ? budgetScopes.delete(scope) : budgetScopes.set(scope, others),
  };
};

const told = (
  budgets: Budgets['budgets'],
  { id, at }: { readonly id: string; readonly at: string },
  tell: (budget: BudgetState) => Partial<BudgetState>,
): Budgets['budgets'] => {
  const state = budgets.get(id);
  if (state === undefined) return budgets;
  const now = budgetAt(state, at);
  return budgets.set(id, { ...now, ...tell(now) });
};

/** Budgets after one has said that a level was reached. */
export const budgetAlertTold = (budgets: Budgets['budgets'], data: BudgetAlerted): Budgets['budgets'] =>
  told(budgets, { id: data.budget_id, at: data.alerted_at }, ({ alerted }) => ({
    alerted: [...alerted, data.level],
  }));

/** What tells refused work from other: the key of a charge, or the ID of the operation. */
export const refusedName = (of: Pick<BudgetReached, 'operation_id' | 'idempotency_key'>): string =>
  of.idempotency_key === null ? `operation ${of.operation_id}` : `charge ${of.idempotency_key}`;

/** Whether the log says already that a budget refused this work, or enough of others in its period. */
export const isToldRefused = ({ refused }: BudgetState, name: string): boolean =>
  refused.length >= REFUSALS_KEPT_MAX || refused.includes(name);

/** Budgets after one has refused work. */
export const budgetRefusalTold = (budgets: Budgets['budgets'], data: BudgetReached): Budgets['budgets'] =>
  told(budgets, { id: data.budget_id, at: data.refused_at }, ({ refused }) => ({
    refused: [...refused, refusedName(data)],
  }));

/** Credits that a budget has left, below 0 where more was held or burned before it was as small as it is. */
export const leftOf = ({ budget, used, held }: BudgetState): number => budget.limit_credits - used - held;
