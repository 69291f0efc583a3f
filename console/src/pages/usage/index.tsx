import { faultOf } from '../../api/faults.ts';
import { useRead } from '../../api/hooks.ts';
import { useActing, useTenantId } from '../../api/useSession.ts';
import { usage as texts } from '../../texts/usage.ts';
import { Empty } from '../../ui/empty.tsx';
import { ForTenant } from '../../ui/forTenant.tsx';
import { useAddressValue } from '../../ui/go.tsx';
import { PageHeader } from '../../ui/pageHeader.tsx';
import { ProblemNote } from '../../ui/problemNote.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Balance } from './balance.tsx';
import { LedgerEntries, UsageEntries } from './entries.tsx';
import { Grants } from './grants.tsx';
import { Prices } from './prices.tsx';
import { QuoteCalculator } from './quote.tsx';
import { useLowLine } from './useLowLine.ts';
import { UsageCharts } from './usageCharts.tsx';

const LEDGER = { id: 'ledger', name: texts.tabs.ledger, content: <LedgerEntries /> };

function Parts() {
  const { session } = useActing();
  const [tab, choose] = useAddressValue('tab');
  const tabs = [
    { id: 'usage', name: texts.tabs.usage, content: <UsageEntries /> },
    ...(session.role === 'admin' ? [LEDGER] : []),
    { id: 'grants', name: texts.tabs.grants, content: <Grants /> },
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
          <UsageCharts line={line} />
          <Parts />
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
