import { useState } from 'react';
import { useRead } from '../../api/connection.ts';
import { useTenantId } from '../../api/session.ts';
import { categoryName } from '../../texts/shell.ts';
import { usage as texts } from '../../texts/usage.ts';
import { Card } from '../../ui/card.tsx';
import { DayBars, DayLine } from '../../ui/charts.tsx';
import { CONTROL } from '../../ui/style.ts';
import { Select } from '../../ui/select.tsx';
import { useAddressValue } from '../../ui/go.tsx';
import { ProblemNote, Skeleton } from '../../ui/states.tsx';
import { balancesOf, barsOf, firstDay, type Day } from './days.ts';

/** The line below which a tenant's balance counts as low. */
export interface LowLine {
  /** 0: none. */
  readonly credits: number;
  /** False while the webhooks are read. */
  readonly isKnown: boolean;
  /** A webhook reports it; else it is this browser's own. */
  readonly isTold: boolean;
  readonly keep: (credits: number) => void;
}

const keyOf = (tenantId: string): string => `quire.low-line.${tenantId}`;

const keptOf = (tenantId: string): number => {
  const kept = Number(localStorage.getItem(keyOf(tenantId)) ?? 0);
  return Number.isSafeInteger(kept) && kept > 0 ? kept : 0;
};

/** The highest line that a webhook of the tenant reports; where none does, what was kept in this browser. */
export const useLowLine = (tenant_id: string): LowLine => {
  const { data } = useRead('listWebhooks', { query: { tenant_id } });
  const [kept, setKept] = useState({ tenant_id, credits: keptOf(tenant_id) });
  if (kept.tenant_id !== tenant_id) setKept({ tenant_id, credits: keptOf(tenant_id) });
  const told = (data?.items ?? [])
    .filter(({ enabled }) => enabled)
    .map(({ low_balance_credits }) => low_balance_credits ?? 0);
  const highest = Math.max(0, ...told);
  return {
    credits: highest > 0 ? highest : kept.credits,
    isKnown: data !== undefined,
    isTold: highest > 0,
    keep: (credits) => {
      if (credits > 0) localStorage.setItem(keyOf(tenant_id), String(credits));
      else localStorage.removeItem(keyOf(tenant_id));
      setKept({ tenant_id, credits });
    },
  };
};

const { chart, low } = texts;
const SPANS = ['7', '30', '90', '365'];
const SHOWN = SPANS.map((value) => ({ value, name: chart.days(value) }));

const grouped = (value: number): string => value.toLocaleString('en').replace('-', '−');

function Nothing({ say }: { say: string }) {
  return <p className="py-12 text-center text-soft">{say}</p>;
}

function Used({ span, days }: { span: string; days: readonly Day[] }) {
  const bars = barsOf(days);
  if (bars.categories.length === 0) return <Nothing say={chart.nothing} />;
  return (
    <DayBars
      label={chart.used(span)}
      days={bars.days}
      series={bars.categories.map((id) => ({ id, name: categoryName(id) }))}
      format={grouped}
    />
  );
}

function Balances({ span, days, line }: { span: string; days: readonly Day[]; line: LowLine }) {
  const balances = balancesOf(days);
  if (balances.length === 0) return <Nothing say={chart.unknown} />;
  const { credits } = line;
  const limit = credits > 0 ? { name: low.name(grouped(credits)), value: credits } : undefined;
  return (
    <DayLine label={chart.balance(span)} name={chart.series} days={balances} limit={limit} format={grouped} />
  );
}

/** A line of one's own, where no webhook has one. */
function OwnLine({ line }: { line: LowLine }) {
  if (!line.isKnown || line.isTold) return null;
  return (
    <label className="flex items-center gap-2 text-[13px] whitespace-nowrap text-soft" title={low.ownSay}>
      {low.own}
      <input
        type="number"
        min={0}
        step={1}
        value={line.credits === 0 ? '' : line.credits}
        onChange={({ target }) => line.keep(Math.max(0, Math.trunc(target.valueAsNumber || 0)))}
        className={`${CONTROL} max-w-28 text-right`}
      />
    </label>
  );
}

/** What each of the last days cost by category, and the balance that it ended on. */
export function UsageCharts({ line }: { line: LowLine }) {
  const tenant_id = useTenantId();
  const [now] = useState(Date.now);
  const [chosen, choose] = useAddressValue('days');
  const span = SPANS.find((one) => one === chosen) ?? '30';
  const start = firstDay(now, Number(span));
  const { data, error, refetch } = useRead('getUsageDays', {
    path: { tenant_id },
    query: { start, end: firstDay(now, 1) },
  });
  const isLoading = data === undefined && error === null;
  return (
    <div className="grid gap-4 xl:grid-cols-2">
      <Card
        title={chart.used(span)}
        actions={
          <span className="w-28">
            <Select label={chart.span} choices={SHOWN} value={span} onChange={choose} />
          </span>
        }
      >
        <ProblemNote error={error} onRetry={() => void refetch()} />
        {isLoading && <Skeleton className="h-64" />}
        {data !== undefined && <Used span={span} days={data.items} />}
      </Card>
      <Card title={chart.balanceTitle} actions={<OwnLine line={line} />}>
        {isLoading && <Skeleton className="h-64" />}
        {data !== undefined && <Balances span={span} days={data.items} line={line} />}
      </Card>
    </div>
  );
}
