import type { SealItem } from '@quire/client';
import { csvOf, useRead } from '../../api/connection.ts';
import { audit } from '../../texts/audit.ts';
import { Badge, PageHeader } from '../../ui/card.tsx';
import { Empty, ProblemNote } from '../../ui/states.tsx';
import { DataTable, type Column } from '../../ui/table.tsx';
import { Time } from '../../ui/values.tsx';
import { useActing } from '../../api/session.ts';
import { ForTenant } from '../../ui/forTenant.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { useAuditAddress, Timeline } from './timeline.tsx';
import { Audits } from './audits.tsx';
import { Balance } from './balance.tsx';

const { columns: names, ...sealTexts } = audit.seals;

const TONES = { holds: 'good', differs: 'bad', not_checked: 'neutral' } as const;

const COLUMNS: readonly Column<SealItem>[] = [
  {
    id: 'made',
    name: names.made,
    value: (seal) => seal.made_at,
    show: (seal) => <Time at={seal.made_at} />,
    isWhole: true,
    share: 2,
  },
  { id: 'position', name: names.position, value: (seal) => seal.position, isNumber: true },
  { id: 'events', name: names.events, value: (seal) => seal.events, isNumber: true },
  {
    id: 'state',
    name: names.state,
    value: (seal) => sealTexts.state[seal.state],
    show: (seal) => <Badge tone={TONES[seal.state]}>{sealTexts.state[seal.state]}</Badge>,
  },
  {
    id: 'continues',
    name: names.continues,
    value: (seal) => (seal.continues ? sealTexts.yes : sealTexts.no),
    show: (seal) => (
      <Badge tone={seal.continues ? 'good' : 'bad'}>{seal.continues ? sealTexts.yes : sealTexts.no}</Badge>
    ),
  },
  {
    id: 'retained',
    name: names.retained,
    value: (s) => s.retained_until,
    show: (s) => <Time at={s.retained_until} />,
    isWhole: true,
  },
  {
    id: 'digest',
    name: names.digest,
    value: (s) => s.log_digest,
    show: (s) => <code>{s.log_digest}</code>,
    share: 2,
  },
];

/** The seals of the log, newest first. */
function Seals() {
  const seals = useRead('listSeals');
  if (seals.error !== null) return <ProblemNote error={seals.error} onRetry={() => void seals.refetch()} />;
  return (
    <DataTable
      label={sealTexts.list}
      columns={COLUMNS}
      items={seals.data?.items}
      idOf={({ revision }) => revision}
      csv={() => csvOf('listSeals', {})}
      empty={<Empty title={sealTexts.empty} say={sealTexts.emptySay} />}
    />
  );
}

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
      <PageHeader title={audit.title} say={audit.say} />
      <Tabs
        label={audit.tabs.name}
        tabs={tabs}
        value={at.tab ?? 'timeline'}
        onChange={(tab) => change({ tab: tab === 'timeline' ? undefined : tab })}
      />
    </>
  );
}
