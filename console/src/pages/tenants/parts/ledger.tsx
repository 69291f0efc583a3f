import type { LedgerItem } from '@quire/client';
import { usePages } from '../../../api/usePages.ts';
import { tenants as texts } from '../../../texts/tenants.ts';
import { Badge, type Tone } from '../../../ui/badge.tsx';
import { Empty } from '../../../ui/empty.tsx';
import { ProblemNote } from '../../../ui/problemNote.tsx';
import { DataTable, type Column } from '../../../ui/table/dataTable.tsx';
import { Credits } from '../../../ui/values/numbers.tsx';
import { Time } from '../../../ui/values/time.tsx';

const TONES: Readonly<Record<LedgerItem['kind'], Tone>> = {
  sale: 'good',
  refund: 'warn',
  usage: 'neutral',
  admin_adjustment: 'accent',
};

const LEDGER_COLUMNS: readonly Column<LedgerItem>[] = [
  {
    id: 'created_at',
    name: texts.ledger.when,
    value: ({ created_at }) => created_at,
    share: 1.5,
    show: ({ created_at }) => <Time at={created_at} />,
  },
  {
    id: 'kind',
    name: texts.ledger.kind,
    value: ({ kind }) => kind,
    show: ({ kind }) => <Badge tone={TONES[kind]}>{texts.ledger.kinds[kind]}</Badge>,
  },
  {
    id: 'what',
    name: texts.ledger.what,
    value: ({ operation, reason }) => reason ?? operation,
    share: 1.6,
  },
  { id: 'pages', name: texts.ledger.pages, value: ({ pages }) => pages, isNumber: true },
  {
    id: 'credits',
    name: texts.ledger.credits,
    value: ({ credits_delta }) => credits_delta,
    isNumber: true,
    show: ({ credits_delta }) => <Credits value={credits_delta} />,
  },
  {
    id: 'balance',
    name: texts.ledger.balance,
    value: ({ balance_after }) => balance_after,
    share: 1.2,
    isNumber: true,
    show: ({ balance_after }) => <Credits value={balance_after} />,
  },
  {
    id: 'reference',
    name: texts.ledger.reference,
    value: ({ provider_txn_id, document_id, job_id }) => provider_txn_id ?? document_id ?? job_id,
    share: 2,
  },
  { id: 'id', name: texts.ledger.id, value: ({ id }) => id, share: 1.6 },
];

/** Every posting of a tenant, newest first. */
export function Ledger({ tenantId }: { tenantId: string }) {
  const list = usePages('listTenantLedger', { path: { tenant_id: tenantId } });
  if (list.error !== null) return <ProblemNote error={list.error} onRetry={list.again} />;
  return (
    <DataTable
      label={texts.tabs.ledger}
      columns={LEDGER_COLUMNS}
      items={list.items}
      idOf={({ id }) => id}
      onMore={list.more}
      isLoadingMore={list.isLoadingMore}
      empty={<Empty title={texts.ledger.empty.title} say={texts.ledger.empty.say} />}
    />
  );
}
