import { z } from 'zod';
import { plan } from '../../domain/account/messages.ts';
import { MOVEMENT_MAX } from '../../domain/kernel/amounts.ts';
import { activeConfig, type ReferenceData } from '../commands/reference.ts';
import type { transferCredits as transfer } from '../commands/money/transfers.ts';
import type { Queries, ReadYourWrites } from '../queries/queries.ts';
import { KEPT_A_DAY, routesOver } from '../server/routes.ts';
import type { AccountWriter } from '../writer/accountWriter.ts';
import {
  creditsOut,
  instantOut,
  pageFacts,
  pageIn,
  pageOf,
  pagingQuery,
  plainText,
  tenantIdText,
  tenantParams,
  wholeNumberText,
} from './schemas/basics.ts';
import { setPlanRequest, setPlanResponse } from './money/credits.ts';
import { accountRejections, TRANSFER_REJECTIONS } from './schemas/rejections.ts';

/** What these routes need. */
export interface TenantsDeps {
  readonly accounts: AccountWriter;
  readonly reference: ReferenceData;
  readonly queries: Pick<Queries, 'tenants'>;
  readonly reads: ReadYourWrites;
  readonly transferCredits: ReturnType<typeof transfer>;
}

const { get, post } = routesOver<TenantsDeps>();

const tenantItem = z
  .strictObject({
    tenant_id: z.string(),
    plan,
    balance_credits: creditsOut,
    held_credits: creditsOut,
    total_credits_purchased: creditsOut,
    total_credits_used: creditsOut,
    free_pages_remaining: z.int(),
    created_at: instantOut,
    last_activity_at: instantOut,
    last_used_at: instantOut.nullable().meta({ description: 'When work was last delivered; null: never.' }),
  })
  .meta({ id: 'TenantItem' });

const tenantList = pageOf(tenantItem, 'AdminTenantListResponse');

export const listTenants = get(
  '/v1/admin/tenants',
  {
    summary: 'All tenants with their balances, newest first',
    description:
      '`search` is part of a tenant ID; upper and lower case are the same. `unused_days` lists dormant balances: ' +
      'tenants with credits to whom nothing was delivered for so many days.',
    access: 'admin',
    query: z.object({
      ...pagingQuery,
      search: plainText(0, 128).optional(),
      unused_days: wholeNumberText(1, 36_500)
        .optional()
        .meta({ description: 'Only tenants with credits who have used none for so many days.' }),
    }),
    reply: { status: 200, schema: tenantList },
    reads: 'all',
  },
  async (request, deps) => {
    const { free_pages: allowance } = (await activeConfig(deps.reference)).terms;
    const { search, unused_days } = request.query;
    const found = await deps.queries.tenants({
      ...pageIn(request.query),
      search,
      unused_days,
      now: request.meta.now,
    });
    return {
      items: found.items.map((row) => ({
        tenant_id: row.tenant_id,
        plan: row.plan,
        balance_credits: row.balance_credits,
        held_credits: row.held_credits,
        total_credits_purchased: row.total_credits_purchased,
        total_credits_used: row.total_credits_used,
        free_pages_remaining: Math.max(0, allowance - row.free_pages_used - row.free_pages_held),
        created_at: row.created_at,
        last_activity_at: row.last_activity_at,
        last_used_at: row.last_used_at,
      })),
      ...pageFacts(request.query, found),
    };
  },
);

export const setPlan = post(
  '/v1/admin/tenants/{tenant_id}/set-plan',
  {
    summary: "Set a tenant's plan",
    description: 'The plan decides how many pages a month are free and what may be trained.',
    access: 'admin',
    tenant: 'path',
    params: tenantParams,
    body: setPlanRequest,
    reply: { status: 200, schema: setPlanResponse },
    problems: ['busy'],
  },
  async ({ params: { tenant_id }, body, meta, doneOr }, { accounts, reads }) => {
    const data = { tenant_id, plan: body.plan, reason: body.reason ?? null };
    const { events, state, position } = doneOr(
      await accounts.execute({ type: 'SetPlan', data, meta }),
      accountRejections<never>(),
    );
    reads.note(tenant_id, position);
    const set = events.find(({ type }) => type === 'PlanSet');
    if (set?.type !== 'PlanSet')
      return { tenant_id, plan: state.plan, previous_plan: state.plan, changed: false, set_at: meta.now };
    const { plan, previous_plan, set_at } = set.data;
    return { tenant_id, plan, previous_plan, changed: plan !== previous_plan, set_at };
  },
);

const transferRequest = z
  .strictObject({
    to_tenant_id: tenantIdText.meta({ description: 'Tenant that receives the credits; it exists.' }),
    credits: z
      .int()
      .min(1)
      .max(MOVEMENT_MAX)
      .nullish()
      .meta({ description: 'Credits to move, at most the available ones. Either this or `all`.' }),
    all: z.literal(true).optional().meta({ description: 'All credits that are available.' }),
    reason: plainText(1, 500),
  })
  .superRefine(({ credits, all }, context) => {
    if ((credits == null) === (all === undefined))
      context.addIssue({ code: 'custom', path: ['credits'], message: 'Either credits or all is required.' });
  })
  .meta({ id: 'TransferCreditsRequest' });

const transferResponse = z
  .strictObject({
    transfer_id: z.string(),
    tenant_id: z.string(),
    to_tenant_id: z.string(),
    credits: creditsOut,
    reason: z.string(),
    balance_credits: creditsOut.meta({ description: 'Of the tenant that sent them.' }),
    to_balance_credits: creditsOut.meta({ description: 'Of the tenant that received them.' }),
    credited: z.boolean(),
    created_at: instantOut,
  })
  .meta({ id: 'TransferCreditsResponse' });

export const transferCredits = post(
  '/v1/admin/tenants/{tenant_id}/transfer-credits',
  {
    summary: 'Move credits to another tenant, with what was paid for them',
    description:
      'For tenants that are merged. The oldest credits go first, with the price, rate and payment of their sale: no ' +
      'revenue is recognised by the move, and a refund of the payment, which names the tenant that bought, brings ' +
      'its credits back. Send an `Idempotency-Key`: a repeat, however late, answers with `credited: false`.',
    access: 'admin',
    tenant: 'path',
    idempotency: KEPT_A_DAY,
    params: tenantParams,
    body: transferRequest,
    reply: { status: 200, schema: transferResponse },
    problems: ['tenant_not_found', 'insufficient_balance', 'idempotency_key_reused', 'busy'],
  },
  async ({ params: { tenant_id }, body, idempotency_key, meta, doneOr }, deps) => {
    const { to_tenant_id, credits, reason } = body;
    const asked = { tenant_id, to_tenant_id, credits: credits ?? null, reason, idempotency_key };
    const done = doneOr(await deps.transferCredits(asked, meta), TRANSFER_REJECTIONS);
    deps.reads.note(tenant_id, done.position);
    deps.reads.note(to_tenant_id, done.to_position);
    const { transfer_id, credits: moved, created_at } = done.transfer;
    return {
      transfer_id,
      tenant_id,
      to_tenant_id,
      credits: moved,
      reason: done.transfer.reason,
      balance_credits: done.balance,
      to_balance_credits: done.to_balance,
      credited: done.credited,
      created_at,
    };
  },
);
