import { z } from 'zod';
import { get } from '../http/defineRoute.ts';
import { checkKnown } from '../http/reads/knownTenant.ts';
import {
  booleanText,
  creditsOut,
  fromBoundary,
  instantOut,
  logIdOut,
  minorOut,
  pagingQuery,
  plainText,
  tenantIdText,
  toBoundary,
} from './basics.ts';
import { costByDocument, costByTask, subsidyResponse } from './modelCosts.ts';
import { workCostAnswer, workCostTotal } from '../queries/workCosts.ts';
import { usdOfPico } from '../../domain/modelPrices.ts';
import { marginReportOf } from '../queries/marginReport.ts';
import { invalid } from '../http/problems.ts';
import { totalsOf, USAGE_GROUPS } from '../../projections/usage.ts';
import { usageStatsResponse } from './accounts.ts';

export const getCostsByDocument = get('/v1/admin/costs/by-document', {
  summary: 'Work by document, last used first',
  description: 'Which documents were worked on in a period, for how many credits, and what the models cost.',
  access: 'admin',
  query: z.object({
    document_id: plainText(1, 200).optional(),
    tenant_id: tenantIdText.optional(),
    task_id: plainText(1, 200).optional(),
    ...pagingQuery,
  }),
  reply: { status: 200, schema: costByDocument },
  problems: ['tenant_not_found'],
  reads: 'all',
  handle: async (request, { queries, logId }) => {
    const { limit, offset, tenant_id: asked } = request.query;
    const { items, total } = await queries.costsByDocument(request.query);
    if (asked !== undefined) await checkKnown({ queries }, asked, { isEmpty: total === 0 });
    return {
      log_id: logId(),
      items: items.map(({ document_id, tenant_id, task_id, file_name, last_used_at, ...cost }) => ({
        ...{ document_id, tenant_id, task_id, file_name, last_used_at },
        ...workCostAnswer(cost),
      })),
      ...{ total, limit, offset },
    };
  },
});

export const getCostsByTask = get('/v1/admin/costs/by-task', {
  summary: "A tenant's work by task: credits, model costs, margin at list prices",
  description: '`include_adjustments` is ignored when `operation` is set.',
  access: 'admin',
  tenant: 'query',
  query: z.object({
    tenant_id: tenantIdText,
    from_date: fromBoundary.optional(),
    to_date: toBoundary.optional(),
    operation: plainText(1, 64).optional(),
    include_adjustments: booleanText.default(false),
  }),
  reply: { status: 200, schema: costByTask },
  problems: ['tenant_not_found'],
  reads: 'tenant',
  handle: async (request, { queries, logId }) => {
    const { tenant_id, from_date: from, to_date: to, operation, include_adjustments } = request.query;
    const costs = await queries.costsByTask({ tenant_id, from, to, operation, include_adjustments });
    await checkKnown({ queries }, tenant_id, { isEmpty: costs.length === 0 });
    return {
      log_id: logId(),
      tenant_id,
      items: costs.map(({ task_id, ...cost }) => ({ task_id, ...workCostAnswer(cost) })),
      totals: workCostAnswer(workCostTotal(costs)),
    };
  },
});

export const getFreeTierSubsidy = get('/v1/admin/free-tier-subsidy', {
  summary: 'What models cost the platform for free pages, by day',
  description: 'An operation with free and paid pages counts with the share of its free pages.',
  access: 'admin',
  query: z.object({ from_date: fromBoundary.optional(), to_date: toBoundary.optional() }),
  reply: { status: 200, schema: subsidyResponse },
  reads: 'all',
  handle: async (request, { queries, logId }) => {
    const { from_date, to_date } = request.query;
    const days = await queries.freeTierSubsidy({ from: from_date, to: to_date });
    return {
      log_id: logId(),
      from_date: from_date ?? null,
      to_date: to_date ?? null,
      items: days.map(({ cost_pico, ...day }) => ({ ...day, llm_cost_usd: usdOfPico(cost_pico) })),
      totals: {
        operations: days.reduce((sum, { operations }) => sum + operations, 0),
        pages: days.reduce((sum, { pages }) => sum + pages, 0),
        llm_cost_usd: usdOfPico(days.reduce((sum, { cost_pico }) => sum + cost_pico, 0n)),
      },
    };
  },
});

const usdOut = z
  .string()
  .regex(/^-?\d+\.\d{6}$/)
  .meta({ description: 'US dollars as decimal text with 6 decimals.' });
const percentOut = z
  .string()
  .regex(/^-?\d+\.\d{2}$/)
  .nullable()
  .meta({ description: 'Of the revenue; null without revenue.' });

const marginReportResponse = z
  .strictObject({
    log_id: logIdOut,
    start: instantOut,
    end: instantOut,
    currency: z.literal('USD'),
    credits_burned: creditsOut,
    unit_margin: z.strictObject({
      revenue_usd: usdOut,
      model_cost_usd: usdOut,
      margin_usd: usdOut,
      margin_percent: percentOut,
    }),
    realized_margin: z.strictObject({
      gross_usd: usdOut,
      vat_usd: usdOut,
      provider_fees_usd: usdOut,
      net_revenue_usd: usdOut.meta({ description: 'gross − VAT − provider fees, as recognised.' }),
      refunds_usd: usdOut.meta({ description: 'Recognised by refunds and clawbacks: the true-ups.' }),
      model_cost_usd: usdOut,
      margin_usd: usdOut.meta({ description: 'net revenue + refunds − model cost.' }),
      margin_percent: percentOut,
    }),
    fx_effect_usd: usdOut.meta({ description: 'Realized margin − unit margin: the gap.' }),
    gap_breakdown: z
      .strictObject({
        fx_rate_usd: usdOut,
        price_variance_usd: usdOut,
        provider_fee_usd: usdOut,
        promo_usd: usdOut,
        unpriced_usd: usdOut,
        refund_true_up_usd: usdOut,
        rounding_usd: usdOut,
      })
      .meta({ description: 'Sums to `fx_effect_usd` exactly.' }),
    free_tier_cost_usd: usdOut,
    deferred_revenue_usd: usdOut.meta({ description: 'Value of unconsumed credits at `end`.' }),
    by_currency: z.array(
      z
        .strictObject({
          currency: z.string(),
          sales: z.int(),
          refunds: z.int(),
          gross_amount_minor: minorOut,
          vat_amount_minor: minorOut,
          provider_fee_minor: minorOut,
          refunded_amount_minor: minorOut,
          credits_consumed: creditsOut,
          net_revenue_usd: usdOut,
          refund_true_up_usd: usdOut,
          deferred_revenue_usd: usdOut,
        })
        .meta({ id: 'MarginByCurrency' }),
    ),
    unpriced_calls: z.int(),
    sales_without_amount: z.int(),
    sales_without_rate: z.int(),
  })
  .meta({ id: 'MarginReportResponse' });

/** The first instant of the UTC month. */
const monthOf = (now: string): string => `${now.slice(0, 7)}-01T00:00:00.000Z`;

export const getMarginReport = get('/v1/admin/margin-report', {
  summary: 'Unit margin, realized margin, and the gap between them',
  description:
    'Both ends are inclusive; left out, it is the current UTC month until now. How it is ' +
    'computed: docs/explanation/margin-report.md.',
  access: 'admin',
  query: z.object({ start: fromBoundary.optional(), end: toBoundary.optional() }),
  reply: { status: 200, schema: marginReportResponse },
  reads: 'all',
  handle: async (request, { queries, logId }) => {
    const { start = monthOf(request.meta.now), end = request.meta.now } = request.query;
    if (start > end) throw invalid({ loc: ['query', 'end'], msg: 'Lies before start.', type: 'value_error' });
    return { log_id: logId(), ...(await marginReportOf(queries)(start, end)) };
  },
});

export const getUsageStats = get('/v1/admin/usage-stats', {
  summary: 'Consumption of all tenants, grouped',
  description:
    'Days are UTC, weeks ISO 8601 (`2026-W05`). With `include_adjustments` a clawback counts ' +
    'like consumption and a gift below zero. `trigger` is an old name of `category`.',
  access: 'admin',
  query: z.object({
    from_date: fromBoundary.optional(),
    to_date: toBoundary.optional(),
    group_by: z.enum([...USAGE_GROUPS, 'trigger']).default('operation'),
    include_adjustments: booleanText.default(false),
  }),
  reply: { status: 200, schema: usageStatsResponse },
  reads: 'all',
  handle: async (request, { queries, logId }) => {
    const { from_date, to_date, group_by, include_adjustments } = request.query;
    const items = await queries.usageStats({
      group_by: group_by === 'trigger' ? 'category' : group_by,
      include_adjustments,
      from: from_date,
      to: to_date,
    });
    const totals = totalsOf(items);
    return {
      log_id: logId(),
      group_by,
      from_date: from_date ?? null,
      to_date: to_date ?? null,
      items: [...items],
      totals,
    };
  },
});
