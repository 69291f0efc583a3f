import { z } from 'zod';
import { type Command, event } from '../kernel/decider.ts';
import { type Credits, creditsFromZero, instant, MOVEMENT_MAX } from '../kernel/amounts.ts';
import { eventTags } from '../kernel/tags.ts';

/** How often a budget begins anew; `total`: never. */
export const budgetPeriod = z.enum(['day', 'week', 'month', 'total']);

/** `refuse`: what does not fit is not taken on. `notify`: it is, and somebody is told. */
export const onReached = z.enum(['refuse', 'notify']);

/** The use that a budget counts: at most one member, and none for all use of the tenant. */
const budgetScope = z.strictObject({
  key_id: z.string().optional(),
  project_id: z.string().optional(),
  task_id: z.string().optional(),
  tag: z.strictObject({ name: z.string(), value: z.string() }).optional(),
});

export type BudgetScope = z.output<typeof budgetScope>;

/** Most that a budget may be. */
export const BUDGET_MAX = MOVEMENT_MAX;

/** Most budgets of a tenant at once. */
export const BUDGETS_MAX = 500;

/** Most alert levels of a budget. */
export const LEVELS_MAX = 20;

/** Most alert levels of all budgets of a tenant: one burn may reach them all, and is told in one append. */
export const LEVELS_IN_ALL_MAX = 1_000;

/** Most refusals by a budget, in one period, that the log has: a client that asks in a loop does not fill it. */
export const REFUSALS_KEPT_MAX = 20;

/** Of those, the latest that an account knows as they were: all of 500 budgets are megabytes. */
export const REFUSALS_SHOWN_MAX = 5;

/** What may be changed later. */
const changeable = {
  name: z.string(),
  limit_credits: creditsFromZero,
  on_reached: onReached,
  /** Parts of the limit at which somebody is told, rising: `0.8`. */
  alert_at: z.array(z.number()),
};

/** A budget was made, or is another from now on: all of it. Use counts from its first event on. */
const budgetSet = event('BudgetSet', {
  budget_id: z.string(),
  scope: budgetScope,
  period: budgetPeriod,
  /** IANA name of the zone whose days, weeks from Monday and months they are. */
  time_zone: z.string(),
  ...changeable,
  set_at: instant,
});

const budgetRemoved = event('BudgetRemoved', { budget_id: z.string(), removed_at: instant });

/** The budget as it stood. */
const standing = {
  budget_id: z.string(),
  /** null where the period is `total`. */
  period_start: instant.nullable(),
  limit_credits: creditsFromZero,
  /** Burned in this period. */
  used_credits: creditsFromZero,
  /** Held by open work. */
  held_credits: creditsFromZero,
};

/**
 * Use and holds have reached a level, by the hold or burn before it: each level once a period. The expected ends are
 * those of `expectedEnd`; older releases leave them out.
 */
const budgetAlerted = event('BudgetAlerted', {
  ...standing,
  level: z.number(),
  /** When the limit is reached at the pace of the last 7 UTC days; null: not in this period. */
  expected_end_at_7_days: instant.nullable().optional(),
  expected_end_at_28_days: instant.nullable().optional(),
  alerted_at: instant,
});

/** Work was refused, for it does not fit: used + held + required > limit. Each work once, the first of a period. */
const budgetReached = event('BudgetReached', {
  ...standing,
  required_credits: creditsFromZero,
  /** null where the period is `total`. */
  resets_at: instant.nullable(),
  operation_id: z.string(),
  /** Of a charge; null for work that would have been held for. */
  idempotency_key: z.string().nullable(),
  project_id: z.string().optional(),
  task_id: z.string().optional(),
  api_key_id: z.string().optional(),
  tags: eventTags.optional(),
  refused_at: instant,
});

/** Events about budgets, in the stream of the account. */
export const budgetEvents = [budgetSet, budgetRemoved, budgetAlerted, budgetReached] as const;

export type BudgetSet = z.output<typeof budgetSet>['data'];
export type BudgetAlerted = z.output<typeof budgetAlerted>['data'];
export type BudgetReached = z.output<typeof budgetReached>['data'];

interface ByKey {
  readonly tenant_id: string;
  /** The tenant's key that asks; null: somebody who may do anything. A key with a budget of its own may only read. */
  readonly by_key_id: string | null;
}

/** Makes a budget. */
export type SetBudget = Command<'SetBudget', ByKey & Omit<BudgetSet, 'set_at'>>;

/** Changes what may be changed of a budget. A key may raise its own up to the tenant's. */
export type ChangeBudget = Command<
  'ChangeBudget',
  ByKey & { readonly budget_id: string } & Partial<Pick<BudgetSet, keyof typeof changeable>>
>;

export type RemoveBudget = Command<'RemoveBudget', ByKey & { readonly budget_id: string }>;

export type BudgetCommand = SetBudget | ChangeBudget | RemoveBudget;

/** Why a budget says no, or why there is none. */
export type BudgetRejection =
  /** What is asked for does not fit. */
  | ({ readonly code: 'budget_reached' } & Pick<
      BudgetReached,
      'budget_id' | 'limit_credits' | 'used_credits' | 'held_credits' | 'required_credits' | 'resets_at'
    >)
  | { readonly code: 'budget_not_found' }
  | { readonly code: 'too_many_budgets'; readonly max_budgets: number }
  /** `parent_limit_credits`: a key may raise its own budget up to it; null: there is no such budget. */
  | { readonly code: 'budget_read_only'; readonly parent_limit_credits: Credits | null };
