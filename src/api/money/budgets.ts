import { z } from 'zod';
import {
  BUDGET_MAX,
  budgetPeriod,
  BUDGETS_MAX,
  type BudgetScope,
  LEVELS_MAX,
  onReached,
} from '../../../domain/account/budgetMessages.ts';
import { parentOf } from '../../../domain/account/budgets.ts';
import { budgetAt, budgetIn, type BudgetState } from '../../../domain/account/budgetTotals.ts';
import type { AccountState } from '../../../domain/account/state.ts';
import { asCredits } from '../../../domain/kernel/amounts.ts';
import type { Clock } from '../../../domain/ports/log.ts';
import { TAG_NAME, TAG_VALUE_MAX } from '../../../domain/tags.ts';
import type { ReadYourWrites } from '../../queries/queries.ts';
import { type AnyRequest, KEPT_A_DAY, routesOver } from '../../server/routes.ts';
import type { AccountWriter } from '../../writer/accountWriter.ts';
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
    alerted: z.array(z.number()).meta({ description: 'Levels that were reached in this period.' }),
    period_start: instantOut.nullable().meta({ description: 'null where the period is `total`.' }),
    resets_at: instantOut.nullable().meta({ description: 'When the next period begins; null: never.' }),
    parent: parentOut,
    created_at: instantOut.meta({ description: 'Work counts from here on.' }),
    updated_at: instantOut,
  })
  .meta({ id: 'Budget' });

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

/** A budget as it stands at a time. */
const shown = (account: AccountState, state: BudgetState, now: string): z.input<typeof budgetOut> => {
  const { budget, used, held, alerted, period_start, resets_at, created_at } = budgetAt(state, now);
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
    alerted: [...alerted],
    period_start,
    resets_at,
    parent:
      parent === undefined ? null : { budget_id: parent.budget_id, limit_credits: parent.limit_credits },
    created_at,
    updated_at: set_at,
  };
};

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
