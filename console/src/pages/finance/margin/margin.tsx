import type { MarginReportResponse } from '@quire/client';
import { useRead } from '../../../api/hooks.ts';
import { finance as texts } from '../../../texts/finance.ts';
import { Card } from '../../../ui/card.tsx';
import { Waterfall } from '../../../ui/charts/waterfall.tsx';
import { ProblemNote } from '../../../ui/problemNote.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { Stat } from '../../../ui/stat.tsx';
import { DataTable, type Column } from '../../../ui/table/dataTable.tsx';
import { Credits, groupedText, Money } from '../../../ui/values/numbers.tsx';
import type { Period } from '../period.ts';
import { ByCurrency } from './byCurrency.tsx';
import { gapOf, stepsOf, type Figure } from './steps.ts';

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
  // heights are drawn from floats; what is written beside them is the text of the report
  const exact = new Map(figures.map(({ amount }) => [Number(amount), groupedText(amount)]));
  const format = (value: number): string =>
    exact.get(value) ?? value.toLocaleString('en', { maximumFractionDigits: 2 });
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
  const usd = (amount: string) => <Money amount={amount} currency="USD" isMarked />;
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
