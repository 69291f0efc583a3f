import type { MarginByCurrency, MarginReportResponse } from '@quire/client';
import { finance as texts } from '../../texts/finance.ts';
import { Card, Stat } from '../../ui/card.tsx';
import { Empty, ProblemNote, Skeleton } from '../../ui/states.tsx';
import { DataTable, type Column } from '../../ui/table.tsx';
import { columnsFor } from '../../ui/columns.tsx';
import { negated } from '../../ui/decimal.ts';
import { Credits, Money, groupedText } from '../../ui/values.tsx';
import { useRead } from '../../api/connection.ts';
import { Waterfall } from '../../ui/charts.tsx';
import type { Period } from '../../ui/period.ts';

const of = columnsFor<MarginByCurrency, keyof typeof texts.margin.columns>(texts.margin.columns);

const COLUMNS: readonly Column<MarginByCurrency>[] = [
  of.text('currency', ({ currency }) => currency),
  of.count('sales', ({ sales }) => sales),
  of.count('refunds', ({ refunds }) => refunds),
  of.minor('gross', ({ gross_amount_minor, currency }) => [gross_amount_minor, currency]),
  of.minor('vat', ({ vat_amount_minor, currency }) => [vat_amount_minor, currency]),
  of.minor('fee', ({ provider_fee_minor, currency }) => [provider_fee_minor, currency]),
  of.minor('refunded', ({ refunded_amount_minor, currency }) => [refunded_amount_minor, currency]),
  of.count('consumed', ({ credits_consumed }) => credits_consumed),
  of.usd('net', ({ net_revenue_usd }) => net_revenue_usd),
  of.usd('trueUp', ({ refund_true_up_usd }) => refund_true_up_usd),
  of.usd('deferred', ({ deferred_revenue_usd }) => deferred_revenue_usd),
];

/** The month's money in the currencies that customers paid in. */
function ByCurrency({ items }: { items: readonly MarginByCurrency[] }) {
  return (
    <Card title={texts.margin.byCurrency}>
      <DataTable
        label={texts.margin.byCurrency}
        columns={COLUMNS}
        items={items}
        idOf={({ currency }) => currency}
        empty={<Empty title={texts.margin.none.title} say={texts.margin.none.say} />}
      />
    </Card>
  );
}

/** One figure of the report, its amount as the report's own text. */
interface Figure {
  readonly id: string;
  readonly name: string;
  readonly amount: string;
  /** Stands for itself; others are added to the figure before. */
  readonly isTotal?: boolean;
}

/** From gross to the realized margin: what is taken away has its sign turned. */
export const stepsOf = ({
  realized_margin: realized,
  unit_margin: unit,
  fx_effect_usd,
}: MarginReportResponse): readonly Figure[] => {
  const { steps } = texts.margin;
  return [
    { id: 'gross', name: steps.gross, amount: realized.gross_usd, isTotal: true },
    { id: 'vat', name: steps.vat, amount: negated(realized.vat_usd) },
    { id: 'fees', name: steps.fees, amount: negated(realized.provider_fees_usd) },
    { id: 'net', name: steps.net, amount: realized.net_revenue_usd, isTotal: true },
    { id: 'refunds', name: steps.refunds, amount: realized.refunds_usd },
    { id: 'disputes', name: steps.disputes, amount: negated(realized.dispute_fees_usd) },
    { id: 'cost', name: steps.cost, amount: negated(realized.model_cost_usd) },
    { id: 'unit', name: steps.unit, amount: unit.margin_usd, isTotal: true },
    { id: 'fx', name: steps.fx, amount: fx_effect_usd },
    { id: 'realized', name: steps.realized, amount: realized.margin_usd, isTotal: true },
  ];
};

const GAPS = Object.keys(texts.margin.gaps) as (keyof typeof texts.margin.gaps)[];

/** The parts of the FX effect, and their sum. */
export const gapOf = ({ gap_breakdown, fx_effect_usd }: MarginReportResponse): readonly Figure[] => [
  ...GAPS.map((id) => ({ id, name: texts.margin.gaps[id], amount: gap_breakdown[id] })),
  { id: 'fx', name: texts.margin.fx, amount: fx_effect_usd, isTotal: true },
];

const FIGURES: readonly Column<Figure>[] = [
  { id: 'name', name: texts.margin.figure, value: ({ name }) => name, share: 2.2 },
  {
    id: 'amount',
    name: texts.margin.amount,
    value: ({ amount }) => amount,
    isNumber: true,
    share: 1.6,
    show: ({ amount }) => <Money amount={amount} currency="USD" isMarked />,
  },
];

function Chart({ figures }: { figures: readonly Figure[] }) {
  if (figures.every(({ amount }) => Number(amount) === 0))
    return <p className="py-12 text-center text-soft">{texts.margin.noChart}</p>;
  // heights are drawn from floats; what is written beside them is the text of the report
  const exact = new Map(figures.map(({ amount }) => [Number(amount), groupedText(amount)]));
  const format = (value: number): string =>
    (value === 0 ? undefined : exact.get(value)) ?? value.toLocaleString('en', { maximumFractionDigits: 2 });
  const steps = figures.map(({ name, amount, isTotal }) => ({
    name,
    value: Number(amount),
    isTotal: isTotal === true,
  }));
  return <Waterfall label={texts.margin.chart} steps={steps} format={format} />;
}

const percentOf = (percent: string | null): string =>
  percent === null ? texts.margin.noRevenue : texts.margin.percent(groupedText(percent));

function Heads({ report }: { report: MarginReportResponse }) {
  const usd = (amount: string) => <Money amount={amount} currency="USD" isMarked isShort />;
  const { realized_margin: realized, unit_margin: unit } = report;
  return (
    <div className="grid gap-3 sm:grid-cols-2 xl:grid-cols-4">
      <Stat
        name={texts.margin.realized}
        value={usd(realized.margin_usd)}
        say={percentOf(realized.margin_percent)}
      />
      <Stat name={texts.margin.unit} value={usd(unit.margin_usd)} say={percentOf(unit.margin_percent)} />
      <Stat
        name={texts.margin.deferred}
        value={usd(report.deferred_revenue_usd)}
        say={texts.margin.deferredSay}
      />
      <Stat
        name={texts.margin.burned}
        value={<Credits value={report.credits_burned} />}
        say={
          <>
            {texts.margin.subsidy}: {usd(report.free_tier_cost_usd)}
          </>
        }
      />
    </div>
  );
}

const COUNTS = ['unpriced_calls', 'sales_without_amount', 'sales_without_rate'] as const;

function Unpriced({ report }: { report: MarginReportResponse }) {
  const lacking = COUNTS.filter((name) => report[name] > 0);
  if (lacking.length === 0) return null;
  return (
    <ul className="flex flex-col gap-1 rounded-lg bg-warn-soft p-3 text-warn">
      {lacking.map((name) => (
        <li key={name}>{texts.margin.unpriced[name](report[name].toLocaleString('en'))}</li>
      ))}
    </ul>
  );
}

/** The margin report of a month: as a waterfall, in its exact figures, and by currency. */
export function Margin({ period }: { period: Period }) {
  const read = useRead('getMarginReport', { query: { start: period.first, end: period.last } });
  if (read.error !== null) return <ProblemNote error={read.error} onRetry={() => void read.refetch()} />;
  if (read.data === undefined) return <Skeleton lines={4} className="h-24" />;
  const figures = stepsOf(read.data);
  return (
    <div className="flex flex-col gap-4">
      <Heads report={read.data} />
      <Unpriced report={read.data} />
      <Card title={texts.margin.chart}>
        <Chart figures={figures} />
      </Card>
      <div className="grid grid-cols-1 items-start gap-4 xl:grid-cols-2">
        <Card title={texts.margin.figures}>
          <DataTable label={texts.margin.figures} columns={FIGURES} items={figures} idOf={({ id }) => id} />
        </Card>
        <Card title={texts.margin.gap}>
          <DataTable
            label={texts.margin.gap}
            columns={FIGURES}
            items={gapOf(read.data)}
            idOf={({ id }) => id}
          />
        </Card>
      </div>
      <ByCurrency items={read.data.by_currency} />
    </div>
  );
}
