import type { TenantLimits } from '../../server/limits.ts';
import { z } from 'zod';
import { activeConfig, type ReferenceData } from '../../commands/reference.ts';
import type { Queries } from '../../queries/queries.ts';
import { completionWindow, plan } from '../../../domain/account/messages.ts';
import { forecastOf, PACE_DAYS_MAX, paceStart } from '../../../domain/account/forecast.ts';
import {
  booleanText,
  creditsOut,
  dayOrTime,
  instantOut,
  logIdOut,
  minorOut,
  pageFacts,
  pageIn,
  pageMembers,
  pageOf,
  listQuery,
  plainText,
  tagsOut,
  tenantParams,
  usdOut,
  checkKnown,
  tenantNotFound,
  timeZoneIn,
  actorOut,
  zoned,
} from '../schemas/basics.ts';
import { routesOver } from '../../server/routes.ts';
import type { AccountWriter } from '../../writer/accountWriter.ts';
import { nearBudgetsOf, nearBudgetsOut } from './budgets.ts';
import { activePriceList } from '../../../domain/priceList.ts';
import { invalid } from '../../server/problems.ts';
import { dayIn } from '../../../domain/kernel/timeZones.ts';
import { type LedgerItem, ledgerOfTenant, usageOfTenant } from '../../../projections/ledgerPages.ts';

/** What these routes need. */
export interface AccountsDeps {
  readonly reference: ReferenceData;
  readonly queries: Pick<
    Queries,
    | 'balanceOfTenant'
    | 'creditsUsedByDay'
    | 'ledgerOfTenant'
    | 'openHoldsOfTenant'
    | 'tenants'
    | 'usageDaysOfTenant'
    | 'usageOfTenant'
  >;
  /** Which log the read models are of; null: not known yet. */
  readonly logId: () => string | null;
  /** What holds for each tenant, as this process knows it. */
  readonly limits: TenantLimits;
  readonly accounts: Pick<AccountWriter, 'stateOf'>;
}

const { get } = routesOver<AccountsDeps>();

/** A tenant's row, its remaining free pages, and the part of both that is shown; undefined: no such tenant. */
const tenantBalance = async (
  { reference, queries, accounts }: Pick<AccountsDeps, 'reference' | 'queries' | 'accounts'>,
  tenantId: string,
  as_of: string,
) => {
  const today = as_of.slice(0, 10);
  const [row, used_by_day] = await Promise.all([
    queries.balanceOfTenant(tenantId),
    queries.creditsUsedByDay(tenantId, paceStart(today, PACE_DAYS_MAX)),
  ]);
  if (row === undefined) return undefined;
  const budgets = await nearBudgetsOf({ accounts }, tenantId, as_of);
  const forecast = forecastOf(row.available_credits, used_by_day, today);
  const { terms, version } = await activeConfig(reference);
  const {
    free_pages_used: used,
    free_pages_held,
    grants_count,
    created_at,
    last_activity_at,
    last_used_at: _,
    ...members
  } = row;
  const { free_pages: allowance } = terms;
  const remaining = Math.max(0, allowance - used - free_pages_held);
  return {
    /** `BalanceResponse`. */
    balance: { ...members, free_pages_remaining: remaining, ...forecast, budgets, as_of },
    free_pages: { allowance, used, remaining },
    account: { grants_count, created_at, last_activity_at },
    billing_config_version: version,
  };
};

const daysLeftOut = (days: number) =>
  z
    .int()
    .nullable()
    .meta({
      description:
        `Whole days for which the available credits last, if as many are used a day as in the last ${String(days)} ` +
        'UTC days, today included; null: none were used in them.',
    });

const balanceMembers = {
  tenant_id: z.string(),
  balance_credits: creditsOut,
  held_credits: creditsOut,
  available_credits: creditsOut,
  total_credits_purchased: creditsOut.meta({ description: 'Net of refunds.' }),
  total_credits_used: creditsOut,
  total_credits_adjusted: creditsOut,
  free_pages_remaining: z.int(),
  days_left_at_7_days: daysLeftOut(7),
  days_left_at_28_days: daysLeftOut(28),
  budgets: nearBudgetsOut,
  plan,
  as_of: instantOut,
};

const balanceResponse = z.strictObject(balanceMembers).meta({ id: 'BalanceResponse' });

const bucket = z
  .strictObject({ rate_per_second: z.number(), burst: z.int() })
  .meta({ id: 'RateLimitBucket' });

const tenantInfoResponse = z
  .strictObject({
    ...balanceMembers,
    free_pages: z.strictObject({ allowance: z.int(), used: z.int(), remaining: z.int() }),
    open_holds: z.array(
      z.strictObject({
        hold_id: z.string(),
        credits: creditsOut,
        operation: z.string(),
        created_at: instantOut,
        expires_at: instantOut,
      }),
    ),
    price_list_version: z.int(),
    billing_config_version: z.int(),
    rate_limits: z.strictObject({ heavy: bucket, general: bucket }),
    grants_count: z.int(),
    created_at: instantOut,
    last_activity_at: instantOut,
  })
  .meta({ id: 'TenantInfoResponse' });

/** What every row of a tenant's books has, beside its kind. */
const usageMembers = {
  id: z.string(),
  operation: z.string().nullable(),
  category: z.string().nullable(),
  extraction_mode: z.string().nullable(),
  billing_type: z.string().nullable(),
  completion_window: z.string().nullable(),
  pages: z.int(),
  free_pages: z.int(),
  credits_per_page: creditsOut.nullable(),
  credits_delta: creditsOut,
  total_cost_usd: usdOut,
  balance_after: creditsOut,
  billing_config_version: z.int().nullable(),
  project_id: z.string().nullable(),
  task_id: z.string().nullable(),
  document_id: z.string().nullable(),
  job_id: z.string().nullable(),
  api_key_id: z.string().nullable(),
  tags: tagsOut,
  created_at: instantOut,
};

const usageItem = z
  .strictObject({ ...usageMembers, kind: z.enum(['usage', 'admin_adjustment']) })
  .meta({ id: 'UsageItem' });

const usageHistory = pageOf(usageItem, 'UsageHistoryResponse');

const categoryOfDay = z
  .strictObject({
    category: z.string(),
    operations: z.int(),
    pages: z.int(),
    free_pages: z.int(),
    credits: creditsOut,
  })
  .meta({ id: 'UsageDayCategory' });

const usageDay = z
  .strictObject({
    day: z.iso.date(),
    used_credits: creditsOut,
    granted_credits: creditsOut,
    adjusted_credits: creditsOut,
    balance_credits: creditsOut.nullable(),
    categories: z.array(categoryOfDay),
  })
  .meta({ id: 'UsageDay' });

const usageDaysResponse = z
  .strictObject({ tenant_id: z.string(), start: z.iso.date(), end: z.iso.date(), items: z.array(usageDay) })
  .meta({ id: 'UsageDaysResponse' });

export const quoteResponse = z
  .strictObject({
    tenant_id: z.string(),
    operation: z.string(),
    extraction_mode: z.string(),
    billing_type: z.string(),
    completion_window: completionWindow.nullable(),
    pages: z.int(),
    free_pages_applied: z.int(),
    billable_pages: z.int(),
    credits_per_page: creditsOut,
    credits: creditsOut,
    list_value_usd: usdOut,
    available_credits: creditsOut,
    sufficient: z.boolean(),
    billing_config_version: z.int(),
  })
  .meta({ id: 'QuoteResponse' });

/** Members that rows of one kind have: sales and refunds, or adjustments. */
const membersOfKinds = z
  .strictObject({
    grant_id: z.string(),
    original_grant_id: z.string(),
    refund_id: z.string(),
    other_tenant_id: z.string(),
    currency: z.string(),
    gross_amount_minor: minorOut.nullable(),
    vat_amount_minor: minorOut,
    provider_fee_minor: minorOut,
    net_amount_minor: minorOut.nullable(),
    price_list_version: z.int(),
    provider: z.string(),
    provider_txn_id: z.string(),
    invoice_ref: z.string().nullable(),
    occurred_at: instantOut,
    reason: z.string().nullable(),
    allow_negative: z.boolean(),
    actor: actorOut.nullable(),
  })
  .partial();

const ledgerItem = z
  .strictObject({
    ...usageMembers,
    kind: z.enum(['sale', 'refund', 'reversal', 'transfer_out', 'transfer_in', 'usage', 'admin_adjustment']),
    ...membersOfKinds.shape,
  })
  .meta({ id: 'LedgerItem', description: 'A posting; its kind decides which further members it has.' });

const tenantLedger = z
  .strictObject({
    items: z.array(ledgerItem),
    ...pageMembers,
    opening_balance_credits: creditsOut.nullable().meta({
      description:
        'Balance before the oldest row of the page; null: it has none, or its rows are not in a row.',
    }),
    closing_balance_credits: creditsOut.nullable().meta({
      description:
        'Balance after the newest row of the page; null: it has none, or its rows are not in a row.',
    }),
  })
  .meta({ id: 'AdminTenantLedgerResponse' });

const sums = {
  operations: z.int(),
  pages: z.int(),
  free_pages: z.int(),
  credits: creditsOut,
  list_value_usd: usdOut,
};

export const usageStatsResponse = z
  .strictObject({
    log_id: logIdOut,
    group_by: z.string(),
    from_date: instantOut.nullable(),
    to_date: instantOut.nullable(),
    items: z.array(
      z
        .strictObject({ key: z.string(), category: z.string().optional(), ...sums })
        .meta({ id: 'UsageStatsItem' }),
    ),
    totals: z.strictObject(sums).meta({ id: 'UsageStatsTotals' }),
  })
  .meta({ id: 'AdminUsageStatsResponse' });

/** A posting as its tenant sees it: which operator acted is none of its business. */
const withoutActor = (item: LedgerItem): LedgerItem => {
  const { actor: _, ...shown } = item as LedgerItem & { readonly actor?: unknown };
  return shown;
};

const categoryIn = plainText(1, 64).optional().meta({ description: 'As in the items.' });

export const listTenantLedger = get(
  '/v1/admin/tenants/{tenant_id}/ledger',
  {
    summary: "A tenant's postings of all kinds, newest first",
    description:
      '`balance_after` of the newest row is the balance. A tenant’s own key reads its own, without who acted.',
    access: 'any',
    tenant: 'path',
    params: tenantParams,
    query: zoned({
      ...listQuery(ledgerOfTenant),
      from_date: dayOrTime.optional(),
      to_date: dayOrTime.optional(),
      operation: plainText(1, 64).optional(),
      category: categoryIn,
    }),
    reply: { status: 200, schema: tenantLedger },
    problems: ['tenant_not_found'],
    reads: 'tenant',
  },
  async (request, { queries }) => {
    const { from_date, to_date, operation, category } = request.query;
    const { tenant_id } = request.params;
    const asked = { tenant_id, from: from_date, to: to_date, operation, category };
    const page = { ...pageIn(request.query), ...asked };
    const found = await queries.ledgerOfTenant(page);
    await checkKnown({ queries }, tenant_id, { isEmpty: found.total === 0 });
    const isRun = [page.sort, page.q, page.filter, category].every((one) => one === undefined);
    const [newest, oldest] = isRun ? [found.items[0], found.items.at(-1)] : [];
    return {
      items: request.caller.role === 'admin' ? [...found.items] : found.items.map(withoutActor),
      ...pageFacts(page, found),
      opening_balance_credits: oldest === undefined ? null : oldest.balance_after - oldest.credits_delta,
      closing_balance_credits: newest?.balance_after ?? null,
    };
  },
);

export const getBalance = get(
  '/v1/billing/balance/{tenant_id}',
  {
    summary: "A tenant's balance",
    description: 'Always `balance = purchased + adjusted − used`.',
    access: 'any',
    tenant: 'path',
    params: tenantParams,
    reply: { status: 200, schema: balanceResponse },
    reads: 'tenant',
    problems: ['tenant_not_found'],
  },
  async ({ params, meta }, deps) => {
    const found = await tenantBalance(deps, params.tenant_id, meta.now);
    if (found === undefined) throw tenantNotFound();
    return found.balance;
  },
);

export const getTenantInfo = get(
  '/v1/billing/tenant-info/{tenant_id}',
  {
    summary: "A tenant's full billing state",
    description: 'Balance, free pages, plan, rates, limits and open holds in one answer.',
    access: 'any',
    tenant: 'path',
    params: tenantParams,
    reply: { status: 200, schema: tenantInfoResponse },
    reads: 'tenant',
    problems: ['tenant_not_found'],
  },
  async ({ params: { tenant_id }, meta }, deps) => {
    const found = await tenantBalance(deps, tenant_id, meta.now);
    if (found === undefined) throw tenantNotFound();
    const { balance, free_pages, billing_config_version, account } = found;
    return {
      ...balance,
      free_pages,
      open_holds: [...(await deps.queries.openHoldsOfTenant(tenant_id))],
      price_list_version: activePriceList(await deps.reference.priceLists())?.version ?? 0,
      billing_config_version,
      rate_limits: await deps.limits.bucketsOf(tenant_id),
      ...account,
    };
  },
);

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
const DAYS_MAX = 366;

const dayFrom = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);

const wrongEnd = (msg: string) => invalid({ loc: ['query', 'end'], msg, type: 'value_error' });

export const getUsageDays = get(
  '/v1/billing/usage-days/{tenant_id}',
  {
    summary: "A tenant's usage and balance, day by day",
    description:
      'Days are those of `time_zone`, from `start` to `end`, both inclusive, at most 366. If both are left out: the ' +
      'last 30. Days without movements are listed too. Always `balance_credits` = that of the day before + ' +
      '`granted_credits` + `adjusted_credits` − `used_credits`.',
    access: 'any',
    tenant: 'path',
    params: tenantParams,
    query: z.object({
      start: z.iso.date().optional(),
      end: z.iso.date().optional(),
      time_zone: timeZoneIn,
    }),
    reply: { status: 200, schema: usageDaysResponse },
    problems: ['tenant_not_found'],
    reads: 'tenant',
  },
  async ({ params, query, meta }, { queries }) => {
    const { tenant_id } = params;
    const { time_zone, end = dayIn(time_zone, meta.now) } = query;
    const start = query.start ?? dayFrom(end, 1 - DEFAULT_DAYS);
    if (start > end) throw wrongEnd('Lies before start.');
    if (dayFrom(start, DAYS_MAX) <= end) throw wrongEnd(`At most ${String(DAYS_MAX)} days from start.`);
    await checkKnown({ queries }, tenant_id, { isEmpty: true });
    const items = await queries.usageDaysOfTenant({ tenant_id, start, end, time_zone });
    return {
      tenant_id,
      start,
      end,
      items: items.map((item) => ({ ...item, categories: [...item.categories] })),
    };
  },
);

export const listUsage = get(
  '/v1/billing/usage/{tenant_id}',
  {
    summary: "A tenant's usage, newest first",
    description: 'Adjustments are listed only with `include_adjustments`; purchases are in the grants.',
    access: 'any',
    tenant: 'path',
    params: tenantParams,
    query: zoned({
      ...listQuery(usageOfTenant),
      start: dayOrTime.optional(),
      end: dayOrTime.optional(),
      include_adjustments: booleanText.default(false),
      category: categoryIn,
    }),
    reply: { status: 200, schema: usageHistory },
    problems: ['tenant_not_found'],
    reads: 'tenant',
  },
  async (request, { queries }) => {
    const { start, end, include_adjustments, category } = request.query;
    const { tenant_id } = request.params;
    const asked = { tenant_id, include_adjustments, from: start, to: end, category };
    const page = { ...pageIn(request.query), ...asked };
    const found = await queries.usageOfTenant(page);
    await checkKnown({ queries }, tenant_id, { isEmpty: found.total === 0 });
    const items = found.items.map((item) => ({
      ...item,
      kind: item.kind === 'usage' ? ('usage' as const) : ('admin_adjustment' as const),
    }));
    return { items, ...pageFacts(request.query, found) };
  },
);
