import { z } from 'zod';
import {
  BUDGET_MAX,
  budgetPeriod,
  BUDGETS_MAX,
  type BudgetScope,
  LEVELS_MAX,
  onReached,
  REFUSALS_KEPT_MAX,
  REFUSALS_SHOWN_MAX,
} from '../../../domain/account/budgetMessages.ts';
import { parentOf } from '../../../domain/account/budgets.ts';
import {
  budgetAt,
  budgetIn,
  type BudgetState,
  endOf,
  nearnessOf,
  type Refusal,
  shareOf,
} from '../../../domain/account/budgetTotals.ts';
import type { AccountState } from '../../../domain/account/state.ts';
import { asCredits } from '../../../domain/kernel/amounts.ts';
import type { Clock } from '../../../domain/ports/log.ts';
import { TAG_NAME, TAG_VALUE_MAX } from '../../../domain/kernel/tags.ts';
import type { ReadYourWrites } from '../../queries/queries.ts';
import { type AnyRequest, KEPT_A_DAY, routesOver } from '../../server/routes.ts';
import { AccountUnavailable, type AccountWriter } from '../../writer/accountWriter.ts';
import {
  creditsOut,
  instantOut,
  plainText,
  tenantIdText,
  tenantNotFound,
  tenantParams,
  timeZoneIn,
} from '../schemas/basics.ts';
import { accountRejections } from '../schemas/rejections.ts';

/** What these routes need. */
export interface BudgetsDeps {
  readonly accounts: Pick<AccountWriter, 'execute' | 'stateOf'>;
  readonly clock: Clock;
  readonly reads: Pick<ReadYourWrites, 'note'>;
}

const { get, post, patch, remove } = routesOver<BudgetsDeps>();

const scopeId = plainText(1, 128);

const scopeIn = z
  .strictObject({
    key_id: scopeId.optional(),
    project_id: scopeId.optional(),
    task_id: scopeId.optional(),
    tag: z
      .strictObject({
        name: z.string().regex(TAG_NAME).meta({ description: 'Name of the tag.' }),
        value: plainText(1, TAG_VALUE_MAX).meta({ description: 'The value that it has.' }),
      })
      .optional()
      .meta({ description: 'Work with this tag.' }),
  })
  .refine((scope) => Object.values(scope).filter((one) => one !== undefined).length < 2, {
    error: 'Name one of key_id, project_id, task_id and tag, or none for the whole tenant.',
  })
  .meta({
    id: 'BudgetScope',
    description: 'The work that counts: of one key, project, task or tag; `{}` is all work of the tenant.',
  });

/** Three digits after the point: a level is exact in credits. */
const levelIn = z
  .number()
  .min(0.001)
  .max(10)
  .refine((level) => Math.abs(level * 1000 - Math.round(level * 1000)) < 1e-6, {
    error: 'At most three digits after the point.',
  })
  .transform((level) => Math.round(level * 1000) / 1000);

/** In rising order, each once. */
const alertsIn = z
  .array(levelIn)
  .max(LEVELS_MAX)
  .transform((levels) => [...new Set(levels)].sort((a, b) => a - b))
  .meta({
    description:
      'Parts of the limit at which `budget.alert` is sent, each once a period: 0.8 is at 80 % used and held.',
  });

const nameIn = plainText(1, 200).meta({ description: 'A name for people.' });
const limitIn = z
  .int()
  .min(0)
  .max(BUDGET_MAX)
  .meta({ description: 'The most credits used and held in a period.' });
const onReachedIn = onReached.meta({
  description:
    '`refuse`: work that does not fit is 403 `budget_reached`. `notify`: it is done, and messages tell.',
});

const budgetRequest = z
  .strictObject({
    tenant_id: tenantIdText,
    name: nameIn,
    scope: scopeIn,
    period: budgetPeriod.meta({
      description: 'Days, weeks from Monday and months are those of `time_zone`; `total` never begins anew.',
    }),
    time_zone: timeZoneIn.meta({ description: 'IANA name of a time zone.' }),
    limit_credits: limitIn,
    on_reached: onReachedIn.default('refuse'),
    alert_at: alertsIn.default([0.8, 1]),
  })
  .meta({ id: 'BudgetCreateRequest' });

const budgetChange = z
  .strictObject({
    name: nameIn.optional(),
    limit_credits: limitIn.optional(),
    on_reached: onReachedIn.optional(),
    alert_at: alertsIn.optional(),
  })
  .meta({ id: 'BudgetChangeRequest', description: 'Members that are left out stay as they are.' });

const parentOut = z.strictObject({ budget_id: z.string(), limit_credits: creditsOut }).nullable().meta({
  id: 'ParentBudget',
  description:
    'The least budget of the whole tenant that refuses, and has the same period in the same time zone; null: none.',
});

const refusalOut = z
  .strictObject({
    refused_at: instantOut,
    operation_id: z.string().meta({ description: 'The work; refused work has no operation to look up.' }),
    idempotency_key: z.string().nullable().meta({ description: 'Of a charge; null for other work.' }),
    required_credits: creditsOut.meta({ description: 'What the work might have cost.' }),
    limit_credits: creditsOut.meta({ description: 'The limit at that time.' }),
    used_credits: creditsOut.meta({ description: 'Burned by then.' }),
    held_credits: creditsOut.meta({ description: 'Held by other work then.' }),
    project_id: z.string().nullable(),
    task_id: z.string().nullable(),
    api_key_id: z.string().nullable().meta({ description: 'The key that asked; null: none.' }),
  })
  .meta({ id: 'BudgetRefusal', description: 'Used + held + required was more than the limit.' });
const expectedEndOut = (days: number) =>
  instantOut.nullable().meta({
    description:
      `When used and held reach the limit, if as much is burned a day as in the last ${String(days)} UTC days, ` +
      'today included, or since the budget was made if that is less; now where nothing is left. null: nothing ' +
      'was burned in them, or the budget begins anew by then.',
  });

const budgetOut = z
  .strictObject({
    budget_id: z.string(),
    tenant_id: z.string(),
    name: z.string().nullable().meta({ description: 'null: it was erased with the tenant.' }),
    scope: scopeIn,
    period: budgetPeriod.meta({ description: 'How often the budget begins anew.' }),
    time_zone: z.string(),
    limit_credits: creditsOut,
    on_reached: onReached,
    alert_at: z.array(z.number()),
    used_credits: creditsOut.meta({ description: 'Burned in this period, since the budget was made.' }),
    held_credits: creditsOut.meta({ description: 'Held by work that is not done yet.' }),
    left_credits: z.int().meta({ description: 'Limit − used − held; below 0 where it was made smaller.' }),
    expected_end_at_7_days: expectedEndOut(7),
    expected_end_at_28_days: expectedEndOut(28),
    alerted: z.array(z.number()).meta({ description: 'Levels that were reached in this period.' }),
    period_start: instantOut.nullable().meta({ description: 'null where the period is `total`.' }),
    resets_at: instantOut.nullable().meta({ description: 'When the next period begins; null: never.' }),
    parent: parentOut,
    refusals: z.array(refusalOut).meta({
      description:
        `Work that it refused in this period, the newest first, at most ${String(REFUSALS_SHOWN_MAX)}. The log has ` +
        `the first ${String(REFUSALS_KEPT_MAX)} of a period, each work once; a change of the budget begins anew.`,
    }),
    created_at: instantOut.meta({ description: 'Work counts from here on.' }),
    updated_at: instantOut,
  })
  .meta({ id: 'Budget' });

/** Budgets of a balance that are named. */
const NEAR_SHOWN_MAX = 20;

const nearBudgetOut = z
  .strictObject({
    ...budgetOut.pick({
      budget_id: true,
      name: true,
      scope: true,
      on_reached: true,
      limit_credits: true,
      used_credits: true,
      held_credits: true,
      left_credits: true,
      expected_end_at_7_days: true,
      expected_end_at_28_days: true,
      resets_at: true,
    }).shape,
    standing: z.enum(['near', 'reached']).meta({
      description: '`reached`: nothing is left of it. `near`: at least 80 % is used or held.',
    }),
  })
  .meta({ id: 'NearBudget' });

/** The budgets of a tenant that hold its work, or soon will, as a member of its balance. */
export const nearBudgetsOut = z
  .strictObject({
    reached: z.int().meta({ description: 'How many budgets have nothing left.' }),
    near: z.int().meta({ description: 'How many others are used or held by at least 80 %.' }),
    items: z.array(nearBudgetOut).meta({
      description: `Those, the most used first, at most ${String(NEAR_SHOWN_MAX)}.`,
    }),
  })
  .nullable()
  .meta({
    id: 'NearBudgets',
    description:
      'Budgets that are reached, or nearly so, in their periods now. null: the event log could not be read.',
  });

const budgetsOut = z
  .strictObject({
    tenant_id: z.string(),
    as_of: instantOut,
    budgets: z
      .array(budgetOut)
      .meta({ description: `All of them, at most ${String(BUDGETS_MAX)}, oldest first.` }),
  })
  .meta({ id: 'BudgetList' });

const budgetParams = z.object({
  ...tenantParams.shape,
  budget_id: plainText(1, 128).meta({ description: 'ID of the budget.' }),
});

const refusalShown = ({
  project_id,
  task_id,
  api_key_id,
  ...refusal
}: Refusal): z.input<typeof refusalOut> => ({
  ...refusal,
  project_id: project_id ?? null,
  task_id: task_id ?? null,
  api_key_id: api_key_id ?? null,
});

/** A budget as it stands at a time. */
const shown = (account: AccountState, state: BudgetState, now: string): z.input<typeof budgetOut> => {
  const standing = budgetAt(state, now);
  const { budget, used, held, alerted, refusals, period_start, resets_at, created_at } = standing;
  const { budget_id, name, scope, period, time_zone, limit_credits, on_reached, alert_at, set_at } = budget;
  const parent = parentOf(account, budget);
  return {
    budget_id,
    tenant_id: account.tenant_id ?? '',
    name,
    scope: { ...scope },
    period,
    time_zone,
    limit_credits,
    on_reached,
    alert_at: [...alert_at],
    used_credits: used,
    held_credits: held,
    left_credits: limit_credits - used - held,
    ...endOf(standing, now),
    alerted: [...alerted],
    period_start,
    resets_at,
    parent:
      parent === undefined ? null : { budget_id: parent.budget_id, limit_credits: parent.limit_credits },
    refusals: refusals.toReversed().map(refusalShown),
    created_at,
    updated_at: set_at,
  };
};

/**
 * As `nearBudgetsOut` says, of the account as this process knows it, a second old at most: balances are asked for
 * often. null: the account cannot be read now. The balance is told all the same.
 */
export const nearBudgetsOf = async (
  { accounts }: { readonly accounts: Pick<AccountWriter, 'stateOf'> },
  tenantId: string,
  now: string,
): Promise<z.input<typeof nearBudgetsOut>> => {
  const account = await accounts.stateOf(tenantId).catch((error: unknown) => {
    if (error instanceof AccountUnavailable) return undefined;
    throw error;
  });
  if (account === undefined) return null;
  const found = account.budgets.flatMap((state) => {
    const standing = budgetAt(state, now);
    const nearness = nearnessOf(standing);
    return nearness === undefined ? [] : [{ state, nearness, share: shareOf(standing) }];
  });
  const reached = found.filter(({ nearness }) => nearness === 'reached').length;
  const items = found
    .toSorted((a, b) => b.share - a.share)
    .slice(0, NEAR_SHOWN_MAX)
    .map(({ state, nearness }) => ({ ...nearMembers(shown(account, state, now)), standing: nearness }));
  return { reached, near: found.length - reached, items };
};

const nearMembers = (budget: z.input<typeof budgetOut>): Omit<z.input<typeof nearBudgetOut>, 'standing'> => ({
  budget_id: budget.budget_id,
  name: budget.name,
  scope: budget.scope,
  on_reached: budget.on_reached,
  limit_credits: budget.limit_credits,
  used_credits: budget.used_credits,
  held_credits: budget.held_credits,
  left_credits: budget.left_credits,
  expected_end_at_7_days: budget.expected_end_at_7_days,
  expected_end_at_28_days: budget.expected_end_at_28_days,
  resets_at: budget.resets_at,
});

const shownOf = (account: AccountState, budgetId: string, now: string): z.input<typeof budgetOut> => {
  const state = budgetIn(account.budgets, budgetId);
  if (state === undefined) throw new Error(`budget ${budgetId} was written and is not in its account`);
  return shown(account, state, now);
};

/** Members that are there. */
const given = <T extends object>(members: T) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    readonly [Name in keyof T]: Exclude<T[Name], undefined>;
  };

/** Whose rights it is done by; null: an operator’s. */
const byKey = ({ caller }: Pick<AnyRequest, 'caller'>): string | null =>
  caller.role === 'tenant' ? caller.key_id : null;

const REJECTIONS = accountRejections('budget_not_found', 'budget_read_only', 'too_many_budgets');

export const createBudget = post(
  '/v1/billing/budgets',
  {
    summary: 'Set the most that may be spent in a period',
    description:
      'Held work counts, free pages do not. Work counts from now on: what was used before does not. Work of several ' +
      'budgets has to fit each. A key that has a budget of its own makes none.',
    access: 'any',
    tenant: 'body',
    idempotency: KEPT_A_DAY,
    body: budgetRequest,
    reply: { status: 201, schema: budgetOut },
    problems: ['tenant_not_found', 'budget_not_found', 'budget_read_only', 'too_many_budgets', 'busy'],
  },
  async ({ body, caller, meta, doneOr }, { accounts, clock, reads }) => {
    const { tenant_id, scope, ...members } = body;
    if (!(await accounts.stateOf(tenant_id)).opened) throw tenantNotFound();
    const data = {
      tenant_id,
      by_key_id: byKey({ caller }),
      budget_id: clock.newId('bgt'),
      ...members,
      limit_credits: asCredits(members.limit_credits),
      scope: given(scope) as BudgetScope,
    };
    const { state, position } = doneOr(await accounts.execute({ type: 'SetBudget', data, meta }), REJECTIONS);
    reads.note(tenant_id, position);
    return shownOf(state, data.budget_id, clock.now());
  },
);

export const listBudgets = get(
  '/v1/billing/budgets/{tenant_id}',
  {
    summary: 'The budgets of a tenant, and what is used of them',
    description: 'As the account knows them now, which also decides by them.',
    access: 'any',
    tenant: 'path',
    params: tenantParams,
    reply: { status: 200, schema: budgetsOut },
    problems: ['tenant_not_found', 'busy'],
  },
  async ({ params: { tenant_id } }, { accounts, clock }) => {
    const account = await accounts.stateOf(tenant_id, 0);
    if (!account.opened) throw tenantNotFound();
    const as_of = clock.now();
    const states = account.budgets.toSorted((a, b) =>
      a.created_at === b.created_at
        ? a.budget.budget_id.localeCompare(b.budget.budget_id)
        : a.created_at.localeCompare(b.created_at),
    );
    return { tenant_id, as_of, budgets: states.map((state) => shown(account, state, as_of)) };
  },
);

export const changeBudget = patch(
  '/v1/billing/budgets/{tenant_id}/{budget_id}',
  {
    summary: 'Change a budget',
    description:
      'What it has counted stays, and levels that were reached in this period stay told. A key that has a budget of ' +
      'its own may raise the limit of that one, and nothing else, up to that of `parent`.',
    access: 'any',
    tenant: 'path',
    params: budgetParams,
    body: budgetChange,
    reply: { status: 200, schema: budgetOut },
    problems: ['budget_not_found', 'budget_read_only', 'too_many_budgets', 'busy'],
  },
  async ({ params: { tenant_id, budget_id }, body, caller, meta, doneOr }, { accounts, clock, reads }) => {
    const { limit_credits, ...members } = body;
    const limit = limit_credits === undefined ? {} : { limit_credits: asCredits(limit_credits) };
    const data = { tenant_id, budget_id, by_key_id: byKey({ caller }), ...given(members), ...limit };
    const done = doneOr(await accounts.execute({ type: 'ChangeBudget', data, meta }), REJECTIONS);
    reads.note(tenant_id, done.position);
    return shownOf(done.state, budget_id, clock.now());
  },
);

export const removeBudget = remove(
  '/v1/billing/budgets/{tenant_id}/{budget_id}',
  {
    summary: 'Remove a budget',
    description: 'What it counted is gone: a budget that is made anew begins at 0.',
    access: 'any',
    tenant: 'path',
    params: budgetParams,
    reply: { status: 204 },
    problems: ['budget_not_found', 'budget_read_only', 'too_many_budgets', 'busy'],
  },
  async ({ params: { tenant_id, budget_id }, caller, meta, doneOr }, { accounts, reads }) => {
    const data = { tenant_id, budget_id, by_key_id: byKey({ caller }) };
    const { position } = doneOr(await accounts.execute({ type: 'RemoveBudget', data, meta }), REJECTIONS);
    reads.note(tenant_id, position);
    return undefined;
  },
);
