import { type ExpectedEnd, expectedEnd, NO_USE, type RecentUse, useAt } from './forecast.ts';
import { asCredits, type Credits, minus, NO_CREDITS, plus } from '../kernel/amounts.ts';
import { periodAt } from '../kernel/timeZones.ts';
import {
  type BudgetAlerted,
  type BudgetReached,
  type BudgetScope,
  type BudgetSet,
  REFUSALS_KEPT_MAX,
  REFUSALS_SHOWN_MAX,
} from './budgetMessages.ts';

/** A level of a budget: reached once use and holds are so many credits. */
interface Level {
  readonly level: number;
  readonly credits: Credits;
}

/**
 * What a budget counts, in one shape for all: each scope has a shape of its own, and to ask several of them for members
 * that most do not have takes longer than all sums.
 */
interface Counting {
  readonly by: 'all' | 'key' | 'task' | 'tag' | 'project';
  /** Of the tag. */
  readonly name: string;
  readonly value: string;
}

/** A budget, and what counts towards it. */
export interface BudgetState {
  readonly budget: BudgetSet;
  readonly counting: Counting;
  readonly created_at: string;
  /** Of the period that `used` is of; null where that is `total`. */
  readonly period_start: string | null;
  readonly resets_at: string | null;
  /** Burned in this period. */
  readonly used: Credits;
  /** Held by open work, whenever it was held. */
  readonly held: Credits;
  /** Burned since it was made, over the ends of periods. */
  readonly total: Credits;
  /** The part of it of late: what forecasts go by. */
  readonly recent: RecentUse;
  readonly levels: readonly Level[];
  /** Levels that were reached in this period. */
  readonly alerted: readonly number[];
  /** The work that was refused in this period, as far as the log says it. */
  readonly refused: readonly string[];
  /** The latest of them, the oldest first. */
  readonly refusals: readonly Refusal[];
}

/** Work that a budget refused, and how it stood then. */
export type Refusal = Omit<BudgetReached, 'budget_id' | 'period_start' | 'resets_at' | 'tags'>;

/**
 * The budgets of an account: those of the narrowest scope first, of one kind of scope the oldest. A plain array: there
 * are few, and every hold and burn walks through them.
 */
export type Budgets = readonly BudgetState[];

/** A hold, a burn, or what asks for one: what it is for. Holds of older releases do not say it. */
export interface Scoped {
  readonly project_id?: string | undefined;
  readonly task_id?: string | undefined;
  readonly api_key_id?: string | null | undefined;
  readonly tags?: Readonly<Record<string, string>> | undefined;
}

const countingOf = ({ key_id, task_id, tag, project_id }: BudgetScope): Counting => {
  if (key_id !== undefined) return { by: 'key', name: '', value: key_id };
  if (task_id !== undefined) return { by: 'task', name: '', value: task_id };
  if (tag !== undefined) return { by: 'tag', name: tag.name, value: tag.value };
  return project_id === undefined
    ? { by: 'all', name: '', value: '' }
    : { by: 'project', name: '', value: project_id };
};

/** Whether a budget counts it. */
export const counts = ({ counting }: Pick<BudgetState, 'counting'>, of: Scoped): boolean => {
  switch (counting.by) {
    case 'all':
      return true;
    case 'key':
      return counting.value === of.api_key_id;
    case 'task':
      return counting.value === of.task_id;
    case 'tag':
      return of.tags?.[counting.name] === counting.value;
    case 'project':
      return counting.value === of.project_id;
  }
};

/** Whether it is all work of the tenant. */
export const isWhole = ({ scope }: Pick<BudgetSet, 'scope'>): boolean => Object.keys(scope).length === 0;

const NARROWEST = ['key_id', 'task_id', 'tag', 'project_id'] as const;

/** The place of a kind of scope among the others: 0 is the narrowest. */
const widthOf = (scope: BudgetScope): number => {
  const at = NARROWEST.findIndex((name) => scope[name] !== undefined);
  return at === -1 ? NARROWEST.length : at;
};

/** A budget by its ID. */
export const budgetIn = (budgets: Budgets, id: string): BudgetState | undefined =>
  budgets.find(({ budget }) => budget.budget_id === id);

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
    : inShape({
        ...state,
        ...periodOf(state.budget, at),
        used: NO_CREDITS,
        alerted: [],
        refused: [],
        refusals: [],
      });

type Amount = Scoped & { readonly credits: Credits };

/** Moves a sum of each budget that counts something, in the period of its time. Free pages count for nothing. */
const moved = (
  budgets: Budgets,
  { of, at }: { readonly of: Amount; readonly at: string },
  move: (budget: BudgetState) => BudgetState,
): Budgets =>
  budgets.length === 0 || of.credits === NO_CREDITS
    ? budgets
    : budgets.map((one) => (counts(one, of) ? move(budgetAt(one, at)) : one));

type Sums = Pick<BudgetState, 'used' | 'held' | 'total' | 'recent'>;

/** A budget with other sums. Written out: each hold and burn does it for all that count it, and spreads are slower. */
const summed = (of: Omit<BudgetState, keyof Sums>, { used, held, total, recent }: Sums): BudgetState => ({
  budget: of.budget,
  counting: of.counting,
  created_at: of.created_at,
  period_start: of.period_start,
  resets_at: of.resets_at,
  used,
  held,
  total,
  recent,
  levels: of.levels,
  alerted: of.alerted,
  refused: of.refused,
  refusals: of.refusals,
});

/** The same members in the same order as every other budget: one shape is found faster than several. */
const inShape = (of: BudgetState): BudgetState => summed(of, of);

/** Budgets after a hold. */
export const budgetsHeld = (budgets: Budgets, hold: Amount, at: string): Budgets =>
  moved(budgets, { of: hold, at }, (one) => {
    const { used, total, recent } = one;
    return summed(one, { used, held: plus(one.held, hold.credits), total, recent });
  });

/** Budgets after a hold was closed: by a burn, or unspent. */
export const budgetsFreed = (budgets: Budgets, hold: Amount, at: string): Budgets =>
  moved(budgets, { of: hold, at }, (one) => {
    const { used, total, recent } = one;
    return summed(one, { used, held: minus(one.held, hold.credits), total, recent });
  });

/** Budgets after a burn. */
export const budgetsUsed = (budgets: Budgets, burn: Amount, at: string): Budgets =>
  moved(budgets, { of: burn, at }, (one) =>
    summed(one, {
      used: plus(one.used, burn.credits),
      held: one.held,
      total: plus(one.total, burn.credits),
      recent: useAt(one.recent, at, one.total),
    }),
  );

/** Budgets after one was made or changed. A new one counts what is held, and what is used from now on. */
export const budgetPut = (
  budgets: Budgets,
  data: BudgetSet,
  held: (counting: Pick<BudgetState, 'counting'>) => Credits,
): Budgets => {
  const counting = countingOf(data.scope);
  const levels = data.alert_at.map((level) => levelOf(level, data.limit_credits));
  const before = budgetIn(budgets, data.budget_id);
  if (before !== undefined) {
    const now = inShape({
      ...budgetAt(before, data.set_at),
      budget: data,
      counting,
      levels,
      refused: [],
      refusals: [],
    });
    return budgets.map((one) => (one === before ? now : one));
  }
  const made = inShape({
    budget: data,
    counting,
    created_at: data.set_at,
    levels,
    alerted: [],
    refused: [],
    refusals: [],
    ...periodOf(data, data.set_at),
    used: NO_CREDITS,
    held: held({ counting }),
    total: NO_CREDITS,
    recent: NO_USE,
  });
  const width = widthOf(data.scope);
  const at = budgets.findIndex(({ budget }) => widthOf(budget.scope) > width);
  return at === -1 ? [...budgets, made] : budgets.toSpliced(at, 0, made);
};

/** Budgets without one. */
export const budgetTaken = (budgets: Budgets, id: string): Budgets =>
  budgets.filter(({ budget }) => budget.budget_id !== id);

const told = (
  budgets: Budgets,
  { id, at }: { readonly id: string; readonly at: string },
  tell: (budget: BudgetState) => BudgetState,
): Budgets => budgets.map((one) => (one.budget.budget_id === id ? tell(budgetAt(one, at)) : one));

/** Budgets after one has said that a level was reached. */
export const budgetAlertTold = (budgets: Budgets, data: BudgetAlerted): Budgets =>
  told(budgets, { id: data.budget_id, at: data.alerted_at }, (one) =>
    inShape({ ...one, alerted: [...one.alerted, data.level] }),
  );

/** What tells refused work from other: the key of a charge, or the ID of the operation. */
export const refusedName = (of: Pick<BudgetReached, 'operation_id' | 'idempotency_key'>): string =>
  of.idempotency_key === null ? `operation ${of.operation_id}` : `charge ${of.idempotency_key}`;

/** Whether the log says already that a budget refused this work, or enough of others in its period. */
export const isToldRefused = ({ refused }: BudgetState, name: string): boolean =>
  refused.length >= REFUSALS_KEPT_MAX || refused.includes(name);

/** What is kept of a refusal: tags may be many, and the log has them. */
const refusalOf = (data: BudgetReached): Refusal => {
  const { budget_id: _, period_start: __, resets_at: ___, tags: ____, ...kept } = data;
  return kept;
};

/** Budgets after one has refused work. */
export const budgetRefusalTold = (budgets: Budgets, data: BudgetReached): Budgets =>
  told(budgets, { id: data.budget_id, at: data.refused_at }, (one) =>
    inShape({
      ...one,
      refused: [...one.refused, refusedName(data)],
      refusals: [...one.refusals, refusalOf(data)].slice(-REFUSALS_SHOWN_MAX),
    }),
  );

/** Credits that a budget has left, below 0 where more was held or burned before it was as small as it is. */
export const leftOf = ({ budget, used, held }: BudgetState): number => budget.limit_credits - used - held;

/** From this part of its limit on, in percent, a budget is nearly used up. */
const NEAR_PERCENT = 80;

/** Whether a budget is used up, or nearly so; undefined: neither. Held work counts. */
export const nearnessOf = ({ budget, used, held }: BudgetState): 'near' | 'reached' | undefined => {
  const counted = used + held;
  if (counted >= budget.limit_credits) return 'reached';
  return counted * 100 >= budget.limit_credits * NEAR_PERCENT ? 'near' : undefined;
};

/** The part of the limit that is used and held; a limit of 0 is used up. */
export const shareOf = ({ budget, used, held }: BudgetState): number =>
  budget.limit_credits === 0 ? 1 : (used + held) / budget.limit_credits;

/** When a budget, as it stands at this time, will have reached its limit; null: not within its period. */
export const endOf = (state: BudgetState, now: string): ExpectedEnd =>
  expectedEnd(
    {
      left: leftOf(state),
      total: state.total,
      recent: state.recent,
      counted_since: state.created_at,
      resets_at: state.resets_at,
    },
    now,
  );
