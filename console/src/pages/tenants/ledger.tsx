import type { GrantItem, LedgerItem } from '@quire/client';
import { usePages } from '../../api/connection.ts';
import { kindName } from '../../texts/shell.ts';
import { tenants as texts } from '../../texts/tenants.ts';
import { Badge, type Tone } from '../../ui/card.tsx';
import { DocumentName, Named } from '../../ui/names.tsx';
import { Empty, ProblemNote } from '../../ui/states.tsx';
import { DataTable, type Column } from '../../ui/table.tsx';
import { documentOf, DocumentLink } from '../../ui/columns.tsx';
import { majorText, signedBy } from '../../ui/decimal.ts';
import { Credits, Money, Time } from '../../ui/values.tsx';

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

const grantColumns = (tenantId: string): readonly Column<GrantItem>[] => [
  {
    id: 'occurred_at',
    name: texts.grants.when,
    value: ({ occurred_at }) => occurred_at,
    share: 1.5,
    show: ({ occurred_at }) => <Time at={occurred_at} />,
    isWhole: true,
  },
  {
    id: 'kind',
    name: texts.grants.kind,
    value: ({ kind }) => kind,
    show: ({ kind }) => (
      <Badge tone={kind === 'sale' || kind === 'reversal' ? 'good' : 'warn'}>
        {texts.ledger.kinds[kind]}
      </Badge>
    ),
    isWhole: true,
  },
  {
    id: 'credits',
    name: texts.grants.credits,
    value: ({ credits }) => credits,
    isNumber: true,
    show: ({ credits }) => <Credits value={credits} />,
  },
  money('gross', texts.grants.gross, ({ kind, gross_amount_minor: gross }) =>
    gross === null ? null : signedBy(kind, gross),
  ),
  money('vat', texts.grants.vat, (item) => signedBy(item.kind, item.vat_amount_minor)),
  money('fee', texts.grants.fee, (item) => signedBy(item.kind, item.provider_fee_minor)),
  money('refundable', texts.grants.refundable, (item) =>
    item.kind === 'sale' && item.gross_amount_minor !== null
      ? item.gross_amount_minor - Math.abs(item.refunded_amount_minor)
      : null,
  ),
  {
    id: 'document',
    name: texts.grants.document,
    value: ({ kind }) => documentOf(kind),
    show: ({ kind, grant_id }) => <DocumentLink kind={kind} tenantId={tenantId} grantId={grant_id} />,
    isWhole: true,
  },
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

const GRANT_SORTS = {
  occurred_at: 'occurred_at',
  kind: 'kind',
  credits: 'credits',
  gross: 'gross_amount_minor',
  vat: 'vat_amount_minor',
  fee: 'provider_fee_minor',
  provider: 'provider',
  transaction: 'provider_txn_id',
} as const;

interface GrantsProps {
  readonly tenantId: string;
  readonly onRefund: (grantId: string) => void;
}

/** Sales and refunds with their money; a sale opens its refund. */
export function Grants({ tenantId, onRefund }: GrantsProps) {
  const list = usePages('listGrants', { path: { tenant_id: tenantId } }, { sorts: GRANT_SORTS });
  if (list.error !== null) return <ProblemNote error={list.error} onRetry={list.again} />;
  return (
    <DataTable
      label={texts.tabs.grants}
      columns={grantColumns(tenantId)}
      list={list}
      idOf={({ grant_id }) => grant_id}
      onOpen={({ kind, grant_id }) => {
        if (kind === 'sale') onRefund(grant_id);
      }}
      actions={<span className="text-[13px] text-soft">{texts.grants.say}</span>}
      empty={<Empty title={texts.grants.empty.title} say={texts.grants.empty.say} />}
    />
  );
}

const TONES: Readonly<Record<LedgerItem['kind'], Tone>> = {
  sale: 'good',
  refund: 'warn',
  reversal: 'good',
  transfer_out: 'accent',
  transfer_in: 'accent',
  usage: 'neutral',
  admin_adjustment: 'accent',
};

const ledgerColumns = (tenantId: string): readonly Column<LedgerItem>[] => [
  {
    id: 'created_at',
    name: texts.ledger.when,
    value: ({ created_at }) => created_at,
    share: 1.5,
    show: ({ created_at }) => <Time at={created_at} />,
    isWhole: true,
  },
  {
    id: 'kind',
    name: texts.ledger.kind,
    value: ({ kind }) => kind,
    show: ({ kind }) => <Badge tone={TONES[kind]}>{texts.ledger.kinds[kind]}</Badge>,
    isWhole: true,
  },
  {
    id: 'what',
    name: texts.ledger.what,
    value: ({ operation, reason }) => reason ?? (operation && kindName(operation)),
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
    show: ({ provider_txn_id, document_id, job_id }) =>
      provider_txn_id ??
      (job_id === null ? <DocumentName id={document_id} tenantId={tenantId} /> : <Named id={job_id} />),
    share: 2,
  },
  {
    id: 'id',
    name: texts.ledger.id,
    value: ({ id }) => id,
    isWhole: true,
    show: ({ id }) => <Named id={id} />,
  },
];

const LEDGER_SORTS = {
  created_at: 'created_at',
  kind: 'kind',
  pages: 'pages',
  credits: 'credits_delta',
  balance: 'balance_after',
  id: 'id',
} as const;

/** Every posting of a tenant, newest first. */
export function Ledger({ tenantId }: { tenantId: string }) {
  const list = usePages('listTenantLedger', { path: { tenant_id: tenantId } }, { sorts: LEDGER_SORTS });
  if (list.error !== null) return <ProblemNote error={list.error} onRetry={list.again} />;
  return (
    <DataTable
      label={texts.tabs.ledger}
      columns={ledgerColumns(tenantId)}
      list={list}
      idOf={({ id }) => id}
      empty={<Empty title={texts.ledger.empty.title} say={texts.ledger.empty.say} />}
    />
  );
}
