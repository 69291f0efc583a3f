import type { Api } from '@quire/client';
import { overview } from '../../texts/overview.ts';
import { usage as texts } from '../../texts/usage.ts';
import { Badge, Stat, PageHeader } from '../../ui/card.tsx';
import { Credits } from '../../ui/values.tsx';
import { useLowLine, UsageCharts, type LowLine } from './charts.tsx';
import { faultOf } from '../../api/faults.ts';
import { useRead } from '../../api/connection.ts';
import { useActing, useTenantId } from '../../api/session.ts';
import { Empty, ProblemNote, Skeleton } from '../../ui/states.tsx';
import { ForTenant } from '../../ui/forTenant.tsx';
import { useAddressValue } from '../../ui/go.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { LedgerEntries, UsageEntries, Grants } from './entries.tsx';
import { UsagePivot } from './pivot.tsx';
import { Prices, QuoteCalculator } from './prices.tsx';
import { TopUps } from './topUp.tsx';

type TenantInfo = Awaited<ReturnType<Api['getTenantInfo']>>;

const { stats, low } = texts;
const grouped = (value: number): string => value.toLocaleString('en').replace('-', '−');

/** Says that the balance is low, or from where on it will be said. */
function LowBalance({ info, line }: { info: TenantInfo; line: LowLine }) {
  const isLow = info.available_credits <= 0 || info.available_credits < line.credits;
  if (isLow)
    return (
      <p role="status" className="rounded-lg bg-warn-soft p-3 text-warn">
        {info.available_credits <= 0 ? low.none : low.under(grouped(line.credits))}
      </p>
    );
  if (!line.isKnown) return null;
  return (
    <p className="text-[13px] text-soft">{line.isTold ? low.line(grouped(line.credits)) : low.noLine}</p>
  );
}

/** What is left, what is set aside, and whether it is little. */
function Balance({ info, line }: { info: TenantInfo; line: LowLine }) {
  const { free_pages, days_left_at_28_days: left, days_left_at_7_days: atWeek } = info;
  return (
    <div className="flex flex-col gap-3">
      <div className="grid grid-cols-2 gap-3 lg:grid-cols-5">
        <Stat
          name={stats.available}
          value={<Credits value={info.available_credits} />}
          say={stats.availableSay}
        />
        <Stat
          name={stats.lasts}
          value={overview.lastsOf(left)}
          say={left === null ? overview.lastsNone : overview.lastsSay(overview.lastsOf(atWeek))}
        />
        <Stat
          name={stats.balance}
          value={<Credits value={info.balance_credits} />}
          say={stats.balanceSay(grouped(info.total_credits_purchased), grouped(info.total_credits_used))}
        />
        <Stat name={stats.held} value={<Credits value={info.held_credits} />} say={stats.heldSay} />
        <Stat
          name={stats.free}
          value={<Credits value={info.free_pages_remaining} />}
          say={
            <>
              {stats.freeSay(grouped(free_pages.used), grouped(free_pages.allowance))}{' '}
              <Badge tone="accent">{info.plan}</Badge>
            </>
          }
        />
      </div>
      <LowBalance info={info} line={line} />
    </div>
  );
}

const LEDGER = { id: 'ledger', name: texts.tabs.ledger, content: <LedgerEntries /> };

function Parts({ line }: { line: LowLine }) {
  const { session } = useActing();
  const [tab, choose] = useAddressValue('tab');
  const tabs = [
    {
      id: 'usage',
      name: texts.tabs.usage,
      content: (
        <div className="flex flex-col gap-4">
          <UsageCharts line={line} />
          <UsageEntries />
        </div>
      ),
    },
    { id: 'groups', name: texts.tabs.groups, content: <UsagePivot /> },
    ...(session.role === 'admin' ? [LEDGER] : []),
    { id: 'grants', name: texts.tabs.grants, content: <Grants /> },
    { id: 'top-up', name: texts.tabs.topUp, content: <TopUps /> },
    { id: 'quote', name: texts.tabs.quote, content: <QuoteCalculator /> },
    { id: 'prices', name: texts.tabs.prices, content: <Prices /> },
  ];
  return (
    <Tabs
      label={texts.label}
      tabs={tabs}
      value={tabs.some(({ id }) => id === tab) ? String(tab) : 'usage'}
      onChange={choose}
    />
  );
}

function OfTenant() {
  const tenant_id = useTenantId();
  const line = useLowLine(tenant_id);
  const { data, error, refetch } = useRead('getTenantInfo', { path: { tenant_id } });
  if (error !== null && faultOf(error).code === 'tenant_not_found')
    return <Empty title={texts.newTenant.title} say={texts.newTenant.say} />;
  return (
    <div className="flex flex-col gap-6">
      <ProblemNote error={error} onRetry={() => void refetch()} />
      {data === undefined && error === null && <Skeleton className="h-24" />}
      {data !== undefined && (
        <>
          <Balance info={data} line={line} />
          <Parts line={line} />
        </>
      )}
    </div>
  );
}

/** Usage and balance. */
export default function UsagePage() {
  return (
    <>
      <PageHeader title={texts.title} say={texts.say} />
      <ForTenant>
        <OfTenant />
      </ForTenant>
    </>
  );
}
