import { z } from 'zod';
import { listValueUsd, decimalOf, divideHalfEven } from '../../../domain/kernel/amounts.ts';
import { usdOfPico, microOfPico } from '../../../domain/modelPrices.ts';
import type { WorkCost } from '../../../projections/costs.ts';
import { marginFigures, type MarginSums } from '../../../domain/marginReport.ts';
import { monthBounds } from '../../../domain/books.ts';
import {
  bookedCosts,
  type BooksCommands,
  type ClosedMonth,
  type FigureQueries,
} from '../../commands/money/books.ts';
import type { PeriodCosts } from '../../../projections/llmCosts.ts';
import { type CurrencyFlows, deferredIn } from '../../../projections/marginFlows.ts';
import type { Queries } from '../../queries/queries.ts';
import { routesOver } from '../../server/routes.ts';
import {
  checkKnown,
  booleanText,
  creditsOut,
  dayOrTime,
  fromBoundary,
  instantOut,
  logIdOut,
  minorOut,
  pageFacts,
  pagingQuery,
  plainText,
  tenantIdText,
  toBoundary,
  whoOut,
  zoned,
} from '../schemas/basics.ts';
import { dayIn, dayStartIn } from '../../../domain/kernel/timeZones.ts';
import { costByDocument, costByTask, subsidyResponse } from './modelCosts.ts';
import { invalid } from '../../server/problems.ts';
import { totalsOf, USAGE_GROUPS } from '../../../projections/usage.ts';
import { usageStatsResponse } from './accounts.ts';

/** What these routes need. */
export interface ReportsDeps {
  readonly queries: Pick<
    Queries,
    'balanceOfTenant' | 'costsByDocument' | 'costsByTask' | 'freeTierSubsidy' | 'lateFlows' | 'usageStats'
  > &
    FigureQueries;
  readonly books: Pick<BooksCommands, 'view'>;
  /** Which log the read models are of; null: not known yet. */
  readonly logId: () => string | null;
}

const { get } = routesOver<ReportsDeps>();

/** List value of a credit: 1,000 credits are 1.00 USD. */
const PICO_PER_CREDIT = 1_000_000_000n;

/** The members of a cost report's item. */
const workCostAnswer = ({ operations, pages, credits, cost_pico }: WorkCost) => ({
  operations,
  pages,
  credits,
  list_value_usd: listValueUsd(credits),
  llm_cost_usd: usdOfPico(cost_pico),
  margin_usd: usdOfPico(BigInt(credits) * PICO_PER_CREDIT - cost_pico),
});

/** Adds up costs. */
const workCostTotal = (items: readonly WorkCost[]): WorkCost => ({
  operations: items.reduce((sum, { operations }) => sum + operations, 0),
  pages: items.reduce((sum, { pages }) => sum + pages, 0),
  credits: items.reduce((sum, { credits }) => sum + credits, 0),
  cost_pico: items.reduce((sum, { cost_pico }) => sum + cost_pico, 0n),
});

/** Micro-USD as decimal text with 6 decimals. */
const usd = (micro: bigint): string => decimalOf(micro, 6);

/** Percent with 2 decimals, half-even; null of nothing. */
const percent = (part: bigint, of: bigint): string | null => {
  if (of === 0n) return null;
  const sign = of < 0n ? -1n : 1n;
  return decimalOf(divideHalfEven(part * 10_000n * sign, of * sign), 2);
};

const sumOf = (flows: readonly CurrencyFlows[], name: Exclude<keyof CurrencyFlows, 'currency'>): bigint =>
  flows.reduce((sum, flow) => sum + flow[name], 0n);

const sumsOf = (flows: readonly CurrencyFlows[]): MarginSums => ({
  priced_credits: sumOf(flows, 'priced_credits'),
  given_credits: sumOf(flows, 'given_credits'),
  unpriced_credits: sumOf(flows, 'unpriced_credits'),
  net: sumOf(flows, 'net'),
  amount: sumOf(flows, 'amount'),
  implied: sumOf(flows, 'implied'),
  fee: sumOf(flows, 'fee'),
  vat: sumOf(flows, 'vat'),
  true_up: sumOf(flows, 'true_up'),
  dispute_fee: sumOf(flows, 'dispute_fee'),
});

const currencyItem = (flow: CurrencyFlows, sinceEver: readonly CurrencyFlows[]) => ({
  currency: flow.currency,
  sales: Number(flow.sales),
  refunds: Number(flow.refunds),
  gross_amount_minor: Number(flow.gross_minor),
  vat_amount_minor: Number(flow.vat_minor),
  provider_fee_minor: Number(flow.fee_minor),
  refunded_amount_minor: Number(flow.refunded_minor),
  credits_consumed: Number(flow.priced_credits + flow.unpriced_credits),
  net_revenue_usd: usd(flow.net),
  refund_true_up_usd: usd(flow.true_up),
  dispute_fee_minor: Number(flow.dispute_fee_minor),
  dispute_fee_usd: usd(flow.dispute_fee),
  deferred_revenue_usd: usd(deferredIn(sinceEver.filter(({ currency }) => currency === flow.currency))),
});

const NOTHING_OF = (currency: string): CurrencyFlows => ({
  currency,
  priced_credits: 0n,
  given_credits: 0n,
  unpriced_credits: 0n,
  net: 0n,
  amount: 0n,
  implied: 0n,
  fee: 0n,
  vat: 0n,
  true_up: 0n,
  booked: 0n,
  refunded: 0n,
  sales: 0n,
  refunds: 0n,
  gross_minor: 0n,
  vat_minor: 0n,
  fee_minor: 0n,
  refunded_minor: 0n,
  without_amount: 0n,
  without_rate: 0n,
  stale_rate: 0n,
  dispute_fee: 0n,
  dispute_fee_minor: 0n,
});

interface MarginReportParts {
  readonly start: string;
  readonly end: string;
  /** What moved in the period, and since ever up to its end. */
  readonly period: readonly CurrencyFlows[];
  readonly sinceEver: readonly CurrencyFlows[];
  readonly costs: PeriodCosts;
}

/** The report's figures. */
export const marginReport = ({ start, end, period, sinceEver, costs }: MarginReportParts) => {
  const modelCost = microOfPico(costs.billed_pico_usd);
  const figures = marginFigures(sumsOf(period), modelCost);
  const { gap, unit, realized } = figures;
  const currencies = sinceEver.map(({ currency }) => currency).filter((currency) => currency !== '');
  return {
    start,
    end,
    currency: 'USD' as const,
    credits_burned: Number(figures.credits_burned),
    unit_margin: {
      revenue_usd: usd(unit.revenue),
      model_cost_usd: usd(modelCost),
      margin_usd: usd(unit.margin),
      margin_percent: percent(unit.margin, unit.revenue),
    },
    realized_margin: {
      gross_usd: usd(realized.gross),
      vat_usd: usd(sumOf(period, 'vat')),
      provider_fees_usd: usd(sumOf(period, 'fee')),
      net_revenue_usd: usd(realized.net_revenue),
      refunds_usd: usd(realized.refunds),
      dispute_fees_usd: usd(realized.dispute_fees),
      model_cost_usd: usd(modelCost),
      margin_usd: usd(realized.margin),
      margin_percent: percent(realized.margin, realized.net_revenue + realized.refunds),
    },
    fx_effect_usd: usd(figures.fx_effect),
    gap_breakdown: {
      fx_rate_usd: usd(gap.fx_rate),
      price_variance_usd: usd(gap.price_variance),
      provider_fee_usd: usd(gap.provider_fee),
      promo_usd: usd(gap.promo),
      unpriced_usd: usd(gap.unpriced),
      refund_true_up_usd: usd(gap.refund_true_up),
      dispute_fee_usd: usd(gap.dispute_fee),
      rounding_usd: usd(gap.rounding),
    },
    free_tier_cost_usd: usd(microOfPico(costs.free_tier_pico_usd)),
    deferred_revenue_usd: usd(deferredIn(sinceEver)),
    by_currency: currencies.map((currency) =>
      currencyItem(period.find((flow) => flow.currency === currency) ?? NOTHING_OF(currency), sinceEver),
    ),
    unpriced_calls: costs.unpriced_calls,
    sales_without_amount: Number(sumOf(period, 'without_amount')),
    // A sale of an earlier period that got its rate in this one counts below zero.
    sales_without_rate: Math.max(0, Number(sumOf(period, 'without_rate'))),
    sales_with_stale_rate: Math.max(0, Number(sumOf(period, 'stale_rate'))),
  };
};

/** A closed month with its figures. */
export type FiguredMonth = ClosedMonth & { readonly closed: NonNullable<ClosedMonth['closed']> };

/** The figures of a closed month, as its closing states them. */
export const closedReport = ({ month, closed: { figures } }: FiguredMonth) => {
  const { from: start, to: end } = monthBounds(month);
  const { by_currency, costs } = figures;
  return marginReport({
    start,
    end,
    period: by_currency.map(({ currency, sums }) => ({
      ...NOTHING_OF(currency),
      ...Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, BigInt(sum)])),
    })),
    sinceEver: by_currency.map(({ currency, deferred }) => ({
      ...NOTHING_OF(currency),
      booked: BigInt(deferred),
    })),
    costs: {
      billed_pico_usd: BigInt(costs.billed_pico_usd),
      free_tier_pico_usd: BigInt(costs.free_tier_pico_usd),
      unpriced_calls: costs.unpriced_calls,
    },
  });
};

/** Who closed a month, when, and what binds its figures to the log. */
export const closingOf = ({ closing, position, closed }: FiguredMonth) => ({
  number: closing,
  position: String(position),
  digest: closed.digest,
  closed_at: closed.closed_at,
  closed_by: closed.closed_by,
});

/** The closed month that is exactly this period. */
const closedAs = (months: readonly ClosedMonth[], start: string, end: string): FiguredMonth | undefined =>
  months.find((one): one is FiguredMonth => {
    const { from, to } = monthBounds(one.month);
    return one.closed !== null && from === start && to === end;
  });

/** The report of a period, both ends inclusive, by date of booking. */
const marginReportOf = async ({ queries, books }: ReportsDeps, start: string, end: string) => {
  const view = await books.view();
  const period = { from: start, to: end };
  const closed = closedAs(view.months, start, end);
  const [{ costs, late }, late_flows] = await Promise.all([
    bookedCosts(queries, view, period),
    queries.lateFlows(period),
  ]);
  const corrections = {
    events: late_flows.events,
    net_revenue_usd: usd(late_flows.net),
    refunds_usd: usd(late_flows.true_up),
    dispute_fees_usd: usd(late_flows.dispute_fee),
    model_cost_usd: usd(microOfPico(late.billed_pico_usd)),
  };
  if (closed !== undefined) return { ...closedReport(closed), closing: closingOf(closed), corrections };
  const [flows, sinceEver] = await Promise.all([
    queries.marginFlows(period),
    queries.marginFlows({ to: end }),
  ]);
  return { ...marginReport({ start, end, period: flows, sinceEver, costs }), closing: null, corrections };
};

export const getCostsByDocument = get(
  '/v1/admin/costs/by-document',
  {
    summary: 'Work by document, last used first',
    description: 'Which documents were worked on in a period, their credits, and what the models cost.',
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
  },
  async (request, { queries, logId }) => {
    const { tenant_id: asked } = request.query;
    const found = await queries.costsByDocument(request.query);
    if (asked !== undefined) await checkKnown({ queries }, asked, { isEmpty: found.total === 0 });
    return {
      log_id: logId(),
      items: found.items.map(({ document_id, tenant_id, task_id, file_name, last_used_at, ...cost }) => ({
        document_id,
        tenant_id,
        task_id,
        file_name,
        last_used_at,
        ...workCostAnswer(cost),
      })),
      ...pageFacts(request.query, found),
    };
  },
);

export const getCostsByTask = get(
  '/v1/admin/costs/by-task',
  {
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
  },
  async (request, { queries, logId }) => {
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
);

export const getFreeTierSubsidy = get(
  '/v1/admin/free-tier-subsidy',
  {
    summary: 'What models cost the platform for free pages, by day',
    description: 'An operation with free and paid pages counts by its share of free pages.',
    access: 'admin',
    query: z.object({ from_date: fromBoundary.optional(), to_date: toBoundary.optional() }),
    reply: { status: 200, schema: subsidyResponse },
    reads: 'all',
  },
  async (request, { queries, logId }) => {
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
);

const usdOut = z
  .string()
  .regex(/^-?\d+\.\d{6}$/)
  .meta({ description: 'US dollars as decimal text with 6 decimals.' });
const percentOut = z
  .string()
  .regex(/^-?\d+\.\d{2}$/)
  .nullable()
  .meta({ description: 'Share of the revenue; null without revenue.' });

/** A month's closing. */
export const closingMembers = z
  .strictObject({
    number: z.int().meta({ description: 'Number of the closing, from 1.' }),
    position: z.string().meta({ description: 'Where the line was drawn: its position in the log.' }),
    digest: z.string().meta({ description: 'SHA-256 over month, position and figures.' }),
    closed_at: instantOut,
    closed_by: whoOut,
  })
  .meta({ id: 'MonthClosing' });

const corrections = z
  .strictObject({
    events: z
      .int()
      .meta({ description: 'Events of accounts whose time lies in a month that was closed before.' }),
    net_revenue_usd: usdOut,
    refunds_usd: usdOut,
    dispute_fees_usd: usdOut,
    model_cost_usd: usdOut.meta({
      description: 'What became known of model costs of closed months: late calls, prices that came later.',
    }),
  })
  .meta({
    id: 'MarginCorrections',
    description: 'Part of the figures: what came after its month was closed, and is booked in this period.',
  });

/** Members of a margin report, of a month that is closed or of any period. */
export const marginMembers = {
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
    refunds_usd: usdOut.meta({ description: 'Recognised through refunds and clawbacks: the true-ups.' }),
    dispute_fees_usd: usdOut.meta({ description: 'Fees that the providers kept for disputes.' }),
    model_cost_usd: usdOut,
    margin_usd: usdOut.meta({ description: 'net revenue + refunds − fees of disputes − model cost.' }),
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
      dispute_fee_usd: usdOut.meta({ description: 'Fees of disputes, negative.' }),
      rounding_usd: usdOut,
    })
    .meta({ description: 'The parts add up to `fx_effect_usd` exactly.' }),
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
        dispute_fee_minor: minorOut.meta({ description: 'Fees of disputes, minor units of `currency`.' }),
        dispute_fee_usd: usdOut.meta({ description: 'Fees of disputes at the rates of their sales.' }),
        deferred_revenue_usd: usdOut,
      })
      .meta({ id: 'MarginByCurrency' }),
  ),
  unpriced_calls: z.int(),
  sales_without_amount: z.int(),
  sales_without_rate: z.int(),
  sales_with_stale_rate: z
    .int()
    .meta({ description: 'Sales at a rate that was more than 7 days old on their day.' }),
};

const marginReportResponse = z
  .strictObject({
    log_id: logIdOut,
    ...marginMembers,
    closing: closingMembers.nullable().meta({
      description: 'The period is a closed month, and the figures are those of its closing; null: it is not.',
    }),
    corrections,
  })
  .meta({ id: 'MarginReportResponse' });

/** The first instant of the month in a zone. */
const monthOf = (now: string, zone: string): string => dayStartIn(zone, `${dayIn(zone, now).slice(0, 7)}-01`);

export const getMarginReport = get(
  '/v1/admin/margin-report',
  {
    summary: 'Unit margin, realized margin, and the gap between them',
    description:
      'Both ends are inclusive. If left out: the current month until now. A closed month (UTC) has the figures of ' +
      'its closing. How it is computed: docs/explanation/margin-report.md.',
    access: 'admin',
    query: zoned({ start: dayOrTime.optional(), end: dayOrTime.optional() }),
    reply: { status: 200, schema: marginReportResponse },
    reads: 'all',
  },
  async (request, deps) => {
    const { time_zone, end = request.meta.now } = request.query;
    const { start = monthOf(request.meta.now, time_zone) } = request.query;
    if (start > end) throw invalid({ loc: ['query', 'end'], msg: 'Lies before start.', type: 'value_error' });
    return { log_id: deps.logId(), ...(await marginReportOf(deps, start, end)) };
  },
);

export const getUsageStats = get(
  '/v1/admin/usage-stats',
  {
    summary: 'Consumption of all tenants, grouped',
    description:
      'Days are those of `time_zone`, weeks ISO 8601 (`2026-W05`). With `include_adjustments` a clawback counts like ' +
      'consumption, and a gift counts as negative. `trigger` is an old name of `category`.',
    access: 'admin',
    query: zoned({
      from_date: dayOrTime.optional(),
      to_date: dayOrTime.optional(),
      group_by: z.enum([...USAGE_GROUPS, 'trigger']).default('operation'),
      include_adjustments: booleanText.default(false),
    }),
    reply: { status: 200, schema: usageStatsResponse },
    reads: 'all',
  },
  async (request, { queries, logId }) => {
    const { from_date, to_date, group_by, include_adjustments, time_zone } = request.query;
    const items = await queries.usageStats({
      group_by: group_by === 'trigger' ? 'category' : group_by,
      include_adjustments,
      time_zone,
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
);
