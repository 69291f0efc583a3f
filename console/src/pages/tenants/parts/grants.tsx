import type { GrantItem } from '@quire/client';
import { usePages } from '../../../api/usePages.ts';
import { tenants as texts } from '../../../texts/tenants.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Empty } from '../../../ui/empty.tsx';
import { ProblemNote } from '../../../ui/problemNote.tsx';
import { DataTable, type Column } from '../../../ui/table/dataTable.tsx';
import { majorText } from '../../../ui/values/decimal.ts';
import { Credits, Money } from '../../../ui/values/numbers.tsx';
import { Time } from '../../../ui/values/time.tsx';

const money = (id: string, name: string, minorOf: (item: GrantItem) => number | null): Column<GrantItem> => ({
  id,
  name,
  isNumber: true,
  value: (item) => {
    const minor = minorOf(item);
    return minor === null ? undefined : majorText(minor, item.currency);
  },
  show: (item) => {
    const minor = minorOf(item);
    return minor === null ? '–' : <Money amount={majorText(minor, item.currency)} currency={item.currency} />;
  },
});

const GRANT_COLUMNS: readonly Column<GrantItem>[] = [
  {
    id: 'occurred_at',
    name: texts.grants.when,
    value: ({ occurred_at }) => occurred_at,
    share: 1.5,
    show: ({ occurred_at }) => <Time at={occurred_at} />,
  },
  {
    id: 'kind',
    name: texts.grants.kind,
    value: ({ kind }) => kind,
    show: ({ kind }) => <Badge tone={kind === 'sale' ? 'good' : 'warn'}>{texts.ledger.kinds[kind]}</Badge>,
  },
  {
    id: 'credits',
    name: texts.grants.credits,
    value: ({ credits }) => credits,
    isNumber: true,
    show: ({ credits }) => <Credits value={credits} />,
  },
  money('gross', texts.grants.gross, ({ gross_amount_minor }) => gross_amount_minor),
  money('vat', texts.grants.vat, ({ vat_amount_minor }) => vat_amount_minor),
  money('fee', texts.grants.fee, ({ provider_fee_minor }) => provider_fee_minor),
  money('refundable', texts.grants.refundable, (item) =>
    item.kind === 'sale' && item.gross_amount_minor !== null
      ? item.gross_amount_minor - Math.abs(item.refunded_amount_minor)
      : null,
  ),
  { id: 'fx', name: texts.grants.rate, value: ({ fx_rate_to_usd }) => fx_rate_to_usd, isNumber: true },
  { id: 'provider', name: texts.grants.provider, value: ({ provider }) => provider },
  {
    id: 'transaction',
    name: texts.grants.transaction,
    value: ({ provider_txn_id }) => provider_txn_id,
    share: 2,
  },
  { id: 'invoice', name: texts.grants.invoice, value: ({ invoice_ref }) => invoice_ref },
];

interface GrantsProps {
  readonly tenantId: string;
  readonly onRefund: (grantId: string) => void;
}

/** Sales and refunds with their money; a sale opens its refund. */
export function Grants({ tenantId, onRefund }: GrantsProps) {
  const list = usePages('listGrants', { path: { tenant_id: tenantId } });
  if (list.error !== null) return <ProblemNote error={list.error} onRetry={list.again} />;
  return (
    <DataTable
      label={texts.tabs.grants}
      columns={GRANT_COLUMNS}
      items={list.items}
      idOf={({ grant_id }) => grant_id}
      onOpen={({ kind, grant_id }) => {
        if (kind === 'sale') onRefund(grant_id);
      }}
      onMore={list.more}
      isLoadingMore={list.isLoadingMore}
      actions={<span className="text-[13px] text-soft">{texts.grants.say}</span>}
      empty={<Empty title={texts.grants.empty.title} say={texts.grants.empty.say} />}
    />
  );
}
