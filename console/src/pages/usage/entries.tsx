import { useEffect, useState } from 'react';
import type { Api } from '@quire/client';
import { categoryName, modeName } from '../../texts/shell.ts';
import { usage as texts } from '../../texts/usage.ts';
import { useAddressValue } from '../../ui/go.tsx';
import { CONTROL } from '../../ui/style.ts';
import { Button } from '../../ui/button.tsx';
import { type Pages, usePages } from '../../api/connection.ts';
import { useActing, useTenantId } from '../../api/session.ts';
import { Empty, ProblemNote } from '../../ui/states.tsx';
import { DocumentName } from '../../ui/names.tsx';
import { Select } from '../../ui/select.tsx';
import { documentOf, DocumentLink } from '../../ui/columns.tsx';
import { majorText, signedBy } from '../../ui/decimal.ts';
import { DataTable, type Column } from '../../ui/table.tsx';
import { Badge } from '../../ui/card.tsx';
import { Credits, Money, Time } from '../../ui/values.tsx';
import type { Used } from './days.ts';

interface Between {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** The days that lists are about; they stand in the address. */
export const useBetween = (): Between => {
  const [from] = useAddressValue('from');
  const [to] = useAddressValue('to');
  return { from, to };
};

function DayInput({ name, label }: { name: 'from' | 'to'; label: string }) {
  const [value, keep] = useAddressValue(name);
  return (
    <label className="flex items-center gap-2 text-soft">
      {label}
      <input
        type="date"
        value={value ?? ''}
        onChange={({ target }) => keep(target.value === '' ? undefined : target.value)}
        className={`${CONTROL} w-36`}
      />
    </label>
  );
}

/** Chooses the first and the last day (UTC) of what is listed. */
export function DayFilters() {
  const { from, to } = useBetween();
  const [, keepFrom] = useAddressValue('from');
  const [, keepTo] = useAddressValue('to');
  const clear = (): void => {
    keepFrom(undefined);
    keepTo(undefined);
  };
  return (
    <>
      <DayInput name="from" label={texts.filters.from} />
      <DayInput name="to" label={texts.filters.to} />
      {(from !== undefined || to !== undefined) && (
        <Button look="quiet" size="small" onClick={clear}>
          {texts.filters.clear}
        </Button>
      )}
    </>
  );
}

const { columns: names } = texts;

type Entry = Omit<Used, 'kind'> & { readonly kind: keyof typeof texts.kinds };

/** "stage: live, team: claims"; undefined: none. */
const tagWords = (tags: Entry['tags']): string | undefined =>
  Object.entries(tags)
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ') || undefined;

const entryColumns = (tenantId: string): readonly Column<Entry>[] => [
  {
    id: 'time',
    name: names.time,
    value: ({ created_at }) => created_at,
    show: ({ created_at }) => <Time at={created_at} />,
    isWhole: true,
    share: 1.6,
  },
  {
    id: 'kind',
    name: names.kind,
    value: ({ kind }) => texts.kinds[kind],
    show: ({ kind }) => <Badge tone={kind === 'usage' ? 'neutral' : 'accent'}>{texts.kinds[kind]}</Badge>,
    share: 1.2,
  },
  {
    id: 'category',
    name: names.category,
    value: ({ category, operation }) => categoryName(category ?? operation ?? ''),
    isWhole: true,
  },
  {
    id: 'document',
    name: names.document,
    value: ({ document_id }) => document_id,
    show: ({ document_id }) => <DocumentName id={document_id} tenantId={tenantId} />,
    share: 2,
  },
  {
    id: 'mode',
    name: names.mode,
    value: ({ extraction_mode }) => extraction_mode && modeName(extraction_mode),
    isWhole: true,
  },
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
  { id: 'tags', name: names.tags, value: ({ tags }) => tagWords(tags), share: 1.4 },
];

const ALL = 'all';

interface EntriesProps {
  readonly label: string;
  readonly list: Pages<Entry>;
  readonly category: string;
  readonly onCategory: (category: string) => void;
}

const SORTS = {
  time: 'created_at',
  kind: 'kind',
  category: 'category',
  mode: 'extraction_mode',
  pages: 'pages',
  free: 'free_pages',
  credits: 'credits_delta',
  balance: 'balance_after',
  project: 'project_id',
  task: 'task_id',
  document: 'document_id',
} as const;

const ofCategory = (category: string) => (category === ALL ? {} : { category });

function Entries({ label, list, category, onCategory }: EntriesProps) {
  const { items = [] }: { readonly items?: readonly Entry[] | undefined } = list;
  const columns = entryColumns(useTenantId());
  const here = items.flatMap(({ category: name }) => name ?? []).join('\n');
  const [seen, see] = useState<ReadonlySet<string>>(new Set());
  // of a category that was chosen the others are not there any more, but can be chosen
  useEffect(() => see((before) => new Set([...before, ...here.split('\n')])), [here]);
  const choices = [ALL, ...[...seen].filter((name) => name !== '').sort()].map((value) => ({
    value,
    name: value === ALL ? texts.filters.all : categoryName(value),
  }));
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-3">
        <DayFilters />
        <span className="w-44">
          <Select label={texts.filters.category} choices={choices} value={category} onChange={onCategory} />
        </span>
      </div>
      <ProblemNote error={list.error} onRetry={list.again} />
      {list.error === null && (
        <DataTable
          label={label}
          columns={columns}
          list={list}
          idOf={({ id }) => id}
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
  const [category, choose] = useState(ALL);
  const query = {
    ...ofCategory(category),
    ...(from === undefined ? {} : { start: from }),
    ...(to === undefined ? {} : { end: to }),
    include_adjustments: true,
  };
  const list = usePages('listUsage', { path: { tenant_id }, query }, { sorts: SORTS });
  return <Entries label={texts.usageList} list={list} category={category} onCategory={choose} />;
}

/** Every movement of the balance; operators alone may read it. */
export function LedgerEntries() {
  const tenant_id = useTenantId();
  const { session } = useActing();
  const { from, to } = useBetween();
  const [category, choose] = useState(ALL);
  const query = {
    ...ofCategory(category),
    ...(from === undefined ? {} : { from_date: from }),
    ...(to === undefined ? {} : { to_date: to }),
  };
  const list = usePages('listTenantLedger', { path: { tenant_id }, query }, { sorts: SORTS });
  if (session.role !== 'admin') return null;
  return <Entries label={texts.ledgerList} list={list} category={category} onCategory={choose} />;
}

type Grant = Awaited<ReturnType<Api['listGrants']>>['items'][number];

const money = (minor: number | null, currency: string) =>
  minor === null ? '–' : <Money amount={majorText(minor, currency)} currency={currency} />;

const grantColumns = (tenantId: string): readonly Column<Grant>[] => [
  {
    id: 'time',
    name: names.time,
    value: ({ occurred_at }) => occurred_at,
    show: ({ occurred_at }) => <Time at={occurred_at} />,
    isWhole: true,
    share: 1.6,
  },
  {
    id: 'kind',
    name: names.kind,
    value: ({ kind }) => texts.kinds[kind],
    show: ({ kind }) => (
      <Badge tone={kind === 'sale' || kind === 'reversal' ? 'good' : 'warn'}>{texts.kinds[kind]}</Badge>
    ),
  },
  {
    id: 'credits',
    name: names.credits,
    value: ({ credits }) => credits,
    show: ({ credits }) => <Credits value={credits} />,
    isNumber: true,
  },
  {
    id: 'amount',
    name: names.amount,
    value: ({ kind, gross_amount_minor: gross, currency }) =>
      gross === null ? null : majorText(signedBy(kind, gross), currency),
    show: ({ kind, gross_amount_minor: gross, currency }) =>
      money(gross === null ? null : signedBy(kind, gross), currency),
    isNumber: true,
  },
  {
    id: 'vat',
    name: names.vat,
    value: ({ kind, vat_amount_minor: vat, currency }) => majorText(signedBy(kind, vat), currency),
    show: ({ kind, vat_amount_minor: vat, currency }) => money(signedBy(kind, vat), currency),
    isNumber: true,
  },
  { id: 'currency', name: names.currency, value: ({ currency }) => currency, share: 0.7 },
  {
    id: 'refunded',
    name: names.refunded,
    value: ({ refunded_credits }) => refunded_credits,
    show: ({ refunded_credits }) => <Credits value={refunded_credits} />,
    isNumber: true,
  },
  { id: 'provider', name: names.provider, value: ({ provider }) => provider },
  { id: 'transaction', name: names.transaction, value: ({ provider_txn_id }) => provider_txn_id, share: 1.6 },
  {
    id: 'document',
    name: names.receipt,
    value: ({ kind }) => documentOf(kind),
    show: ({ kind, grant_id }) => <DocumentLink kind={kind} tenantId={tenantId} grantId={grant_id} />,
  },
  { id: 'invoice', name: names.invoice, value: ({ invoice_ref }) => invoice_ref },
  {
    id: 'priceList',
    name: names.priceList,
    value: ({ price_list_version }) => price_list_version,
    isNumber: true,
    share: 0.7,
  },
];

const GRANT_SORTS = {
  time: 'occurred_at',
  kind: 'kind',
  credits: 'credits',
  amount: 'gross_amount_minor',
  vat: 'vat_amount_minor',
  currency: 'currency',
  provider: 'provider',
  transaction: 'provider_txn_id',
} as const;

/** What was bought and given back. */
export function Grants() {
  const tenant_id = useTenantId();
  const list = usePages('listGrants', { path: { tenant_id } }, { sorts: GRANT_SORTS });
  if (list.error !== null) return <ProblemNote error={list.error} onRetry={list.again} />;
  return (
    <DataTable
      label={texts.grantsList}
      columns={grantColumns(tenant_id)}
      list={list}
      idOf={({ grant_id }) => grant_id}
      empty={<Empty title={texts.noGrants.title} say={texts.noGrants.say} />}
    />
  );
}
