import { useState } from 'react';
import { usePages } from '../../api/usePages.ts';
import { useActing, useTenantId } from '../../api/useSession.ts';
import { usage as texts } from '../../texts/usage.ts';
import { Empty } from '../../ui/empty.tsx';
import { Select } from '../../ui/form/select.tsx';
import { ProblemNote } from '../../ui/problemNote.tsx';
import { DataTable, type Column } from '../../ui/table/dataTable.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Credits, Money } from '../../ui/values/numbers.tsx';
import { Time } from '../../ui/values/time.tsx';
import type { Used } from './days.ts';
import { DayFilters, useBetween } from './filters.tsx';

const { columns: names } = texts;

type Entry = Omit<Used, 'kind'> & { readonly kind: keyof typeof texts.kinds };

const ENTRY_COLUMNS: readonly Column<Entry>[] = [
  {
    id: 'time',
    name: names.time,
    value: ({ created_at }) => created_at,
    show: ({ created_at }) => <Time at={created_at} />,
    share: 1.6,
  },
  {
    id: 'kind',
    name: names.kind,
    value: ({ kind }) => texts.kinds[kind],
    show: ({ kind }) => <Badge tone={kind === 'usage' ? 'neutral' : 'accent'}>{texts.kinds[kind]}</Badge>,
    share: 1.2,
  },
  { id: 'category', name: names.category, value: ({ category, operation }) => category ?? operation },
  { id: 'mode', name: names.mode, value: ({ extraction_mode }) => extraction_mode },
  { id: 'pages', name: names.pages, value: ({ pages }) => pages, isNumber: true, share: 0.7 },
  { id: 'free', name: names.free, value: ({ free_pages }) => free_pages, isNumber: true },
  {
    id: 'credits',
    name: names.credits,
    value: ({ credits_delta }) => credits_delta,
    show: ({ credits_delta }) => <Credits value={credits_delta} />,
    isNumber: true,
    share: 0.8,
  },
  {
    id: 'value',
    name: names.value,
    value: ({ total_cost_usd }) => total_cost_usd,
    show: ({ total_cost_usd }) => <Money amount={total_cost_usd} currency="USD" />,
    isNumber: true,
  },
  {
    id: 'balance',
    name: names.balance,
    value: ({ balance_after }) => balance_after,
    show: ({ balance_after }) => <Credits value={balance_after} />,
    isNumber: true,
    share: 1.2,
  },
  { id: 'project', name: names.project, value: ({ project_id }) => project_id },
  { id: 'task', name: names.task, value: ({ task_id }) => task_id },
  { id: 'document', name: names.document, value: ({ document_id }) => document_id, share: 1.4 },
];

const ALL = 'all';

interface EntriesProps {
  readonly label: string;
  readonly list: ReturnType<typeof usePages<'listUsage'>> | ReturnType<typeof usePages<'listTenantLedger'>>;
}

function Entries({ label, list }: EntriesProps) {
  const [category, choose] = useState(ALL);
  const items: readonly Entry[] | undefined = list.items;
  const categories = [...new Set((items ?? []).flatMap(({ category: name }) => name ?? []))];
  const choices = [ALL, ...categories].map((value) => ({
    value,
    name: value === ALL ? texts.filters.all : value,
  }));
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-3">
        <DayFilters />
        <span className="w-44">
          <Select label={texts.filters.category} choices={choices} value={category} onChange={choose} />
        </span>
      </div>
      <ProblemNote error={list.error} onRetry={list.again} />
      {list.error === null && (
        <DataTable
          label={label}
          columns={ENTRY_COLUMNS}
          items={items?.filter((item) => category === ALL || item.category === category)}
          idOf={({ id }) => id}
          onMore={list.more}
          isLoadingMore={list.isLoadingMore}
          empty={<Empty title={texts.noUsage.title} say={texts.noUsage.say} />}
        />
      )}
    </div>
  );
}

/** What was used, with adjustments. */
export function UsageEntries() {
  const tenant_id = useTenantId();
  const { from, to } = useBetween();
  const list = usePages('listUsage', {
    path: { tenant_id },
    query: {
      include_adjustments: true,
      ...(from === undefined ? {} : { start: from }),
      ...(to === undefined ? {} : { end: to }),
    },
  });
  return <Entries label={texts.usageList} list={list} />;
}

/** Every movement of the balance; operators alone may read it. */
export function LedgerEntries() {
  const tenant_id = useTenantId();
  const { session } = useActing();
  const { from, to } = useBetween();
  const list = usePages('listTenantLedger', {
    path: { tenant_id },
    query: {
      ...(from === undefined ? {} : { from_date: from }),
      ...(to === undefined ? {} : { to_date: to }),
    },
  });
  return session.role === 'admin' ? <Entries label={texts.ledgerList} list={list} /> : null;
}
