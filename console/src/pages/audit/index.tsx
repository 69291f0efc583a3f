import { audit } from '../../texts/audit.ts';
import { PageHeader } from '../../ui/card.tsx';
import { useActing } from '../../api/session.ts';
import { ForTenant } from '../../ui/forTenant.tsx';
import { PrintButton } from '../../ui/printing.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { useAuditAddress, Timeline } from './timeline.tsx';
import { Audits } from './audits.tsx';
import { Balance } from './balance.tsx';
import { Seals } from './seals.tsx';

/** Audit. */
export default function AuditPage() {
  const [at, change] = useAuditAddress();
  const { tenantId } = useActing();
  const show = (stream: string, from: string | undefined): void =>
    change({ tab: undefined, stream, from, tenant: undefined, order: undefined });
  const tabs = [
    { id: 'timeline', name: audit.tabs.timeline, content: <Timeline at={at} onChange={change} /> },
    {
      id: 'balance',
      name: audit.tabs.balance,
      content: (
        <ForTenant>
          <Balance onShow={({ revision }) => show(`account-${tenantId ?? ''}`, revision)} />
        </ForTenant>
      ),
    },
    {
      id: 'audits',
      name: audit.tabs.audits,
      content: <Audits onShow={({ stream, revision }) => stream !== undefined && show(stream, revision)} />,
    },
    { id: 'seals', name: audit.tabs.seals, content: <Seals /> },
  ];
  return (
    <>
      <PageHeader title={audit.title} say={audit.say}>
        <PrintButton />
      </PageHeader>
      <Tabs
        label={audit.tabs.name}
        tabs={tabs}
        value={at.tab ?? 'timeline'}
        onChange={(tab) => change({ tab: tab === 'timeline' ? undefined : tab })}
      />
    </>
  );
}
