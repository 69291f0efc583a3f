import type { Api } from '@quire/client';
import { usePages } from '../../api/usePages.ts';
import { useTenantId } from '../../api/useSession.ts';
import { usage as texts } from '../../texts/usage.ts';
import { Badge } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ProblemNote } from '../../ui/problemNote.tsx';
import { DataTable, type Column } from '../../ui/table/dataTable.tsx';
import { Credits, Money } from '../../ui/values/numbers.tsx';
import { Time } from '../../ui/values/time.tsx';
import { majorText } from './minor.ts';

type Grant = Awaited<ReturnType<Api['listGrants']>>['items'][number];
const { columns: names } = texts;

const money = (minor: number | null, currency: string) =>
  minor === null ? '–' : <Money amount={majorText(minor, currency)} currency={currency} />;

const GRANT_COLUMNS: readonly Column<Grant>[] = [
  {
    id: 'time',
    name: names.time,
    value: ({ occurred_at }) => occurred_at,
    show: ({ occurred_at }) => <Time at={occurred_at} />,
    share: 1.6,
  },
  {
    id: 'kind',
    name: names.kind,
    value: ({ kind }) => texts.kinds[kind],
    show: ({ kind }) => <Badge tone={kind === 'sale' ? 'good' : 'warn'}>{texts.kinds[kind]}</Badge>,
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
    value: ({ gross_amount_minor: minor, currency }) => (minor === null ? null : majorText(minor, currency)),
    show: ({ gross_amount_minor, currency }) => money(gross_amount_minor, currency),
    isNumber: true,
  },
  {
    id: 'vat',
    name: names.vat,
    value: ({ vat_amount_minor, currency }) => majorText(vat_amount_minor, currency),
    show: ({ vat_amount_minor, currency }) => money(vat_amount_minor, currency),
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
  { id: 'invoice', name: names.invoice, value: ({ invoice_ref }) => invoice_ref },
  {
    id: 'priceList',
    name: names.priceList,
    value: ({ price_list_version }) => price_list_version,
    isNumber: true,
    share: 0.7,
  },
];

/** What was bought and given back. */
export function Grants() {
  const tenant_id = useTenantId();
  const list = usePages('listGrants', { path: { tenant_id } });
  if (list.error !== null) return <ProblemNote error={list.error} onRetry={list.again} />;
  return (
    <DataTable
      label={texts.grantsList}
      columns={GRANT_COLUMNS}
      items={list.items}
      idOf={({ grant_id }) => grant_id}
      onMore={list.more}
      isLoadingMore={list.isLoadingMore}
      empty={<Empty title={texts.noGrants.title} say={texts.noGrants.say} />}
    />
  );
}
