import { decimalOf, divideHalfEven } from '../../domain/kernel/amounts.ts';
import { marginFigures, type MarginSums } from '../../domain/marginReport.ts';
import { microOfPico } from '../../domain/modelPrices.ts';
import type { PeriodCosts } from '../../projections/llmCosts.ts';
import type { CurrencyFlows } from '../../projections/margin.ts';
import type { Queries } from './queries.ts';

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
});

/** Value of unconsumed credits: what was booked and neither refunded nor recognised. */
const deferredIn = (flows: readonly CurrencyFlows[]): bigint =>
  sumOf(flows, 'booked') - sumOf(flows, 'refunded') - sumOf(flows, 'net') - sumOf(flows, 'true_up');

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
  deferred_revenue_usd: usd(deferredIn(sinceEver.filter(({ currency }) => currency === flow.currency))),
});

const NOTHING_OF = (currency: string): CurrencyFlows => ({
  ...{ currency, priced_credits: 0n, given_credits: 0n, unpriced_credits: 0n, net: 0n, amount: 0n },
  ...{ implied: 0n, fee: 0n, vat: 0n, true_up: 0n, booked: 0n, refunded: 0n, sales: 0n, refunds: 0n },
  ...{ gross_minor: 0n, vat_minor: 0n, fee_minor: 0n, refunded_minor: 0n },
  ...{ without_amount: 0n, without_rate: 0n },
});

interface MarginReportParts {
  readonly start: string;
  readonly end: string;
  /** What moved in the period, and since ever up to its end. */
  readonly period: readonly CurrencyFlows[];
  readonly sinceEver: readonly CurrencyFlows[];
  readonly costs: PeriodCosts;
}

/** `MarginReportResponse`. */
export const marginReport = ({ start, end, period, sinceEver, costs }: MarginReportParts) => {
  const modelCost = microOfPico(costs.billed_pico_usd);
  const figures = marginFigures(sumsOf(period), modelCost);
  const { gap, unit, realized } = figures;
  const currencies = sinceEver.map(({ currency }) => currency).filter((currency) => currency !== '');
  return {
    ...{ start, end, currency: 'USD' as const },
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
      rounding_usd: usd(gap.rounding),
    },
    free_tier_cost_usd: usd(microOfPico(costs.free_tier_pico_usd)),
    deferred_revenue_usd: usd(deferredIn(sinceEver)),
    by_currency: currencies.map((currency) =>
      currencyItem(period.find((flow) => flow.currency === currency) ?? NOTHING_OF(currency), sinceEver),
    ),
    unpriced_calls: costs.unpriced_calls,
    sales_without_amount: Number(sumOf(period, 'without_amount')),
    sales_without_rate: Number(sumOf(period, 'without_rate')),
  };
};

/** The report of a period, both ends inclusive, from the read models. */
export const marginReportOf =
  (queries: Pick<Queries, 'marginFlows' | 'modelCostOfPeriod'>) => async (start: string, end: string) => {
    const [period, sinceEver, costs] = await Promise.all([
      queries.marginFlows({ from: start, to: end }),
      queries.marginFlows({ to: end }),
      queries.modelCostOfPeriod({ from: start, to: end }),
    ]);
    return marginReport({ start, end, period, sinceEver, costs });
  };
