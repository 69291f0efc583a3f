import type { Payment, PaymentSum } from '@quire/client';
import { useState } from 'react';
import { usePages } from '../../api/connection.ts';
import { books } from '../../texts/books.ts';
import { Button } from '../../ui/button.tsx';
import { Badge, Card } from '../../ui/card.tsx';
import { columnsFor, documentOf, DocumentLink } from '../../ui/columns.tsx';
import { useAddressValues } from '../../ui/go.tsx';
import type { Period } from '../../ui/period.ts';
import { Select } from '../../ui/select.tsx';
import { Empty, ProblemNote } from '../../ui/states.tsx';
import { CONTROL } from '../../ui/style.ts';
import { DataTable, type Column } from '../../ui/table.tsx';

const texts = books.payments;
type Kind = Payment['kind'];

const FILTERS = ['from', 'to', 'kind', 'provider', 'currency', 'payout_id', 'tenant_id'] as const;
type Filter = (typeof FILTERS)[number];

/** Filters that are typed, in the order in which they stand; the others are days. */
const TYPED = ['tenant_id', 'provider', 'currency', 'payout_id'] as const;

interface FilterInputProps {
  readonly label: string;
  readonly isDay?: boolean;
  readonly value: string;
  readonly onChange: (value: string | undefined) => void;
}

/** A day filters at once, a text when Enter is pressed or it is left: no request for each letter. */
function FilterInput({ label, isDay = false, value, onChange }: FilterInputProps) {
  const [typed, type] = useState<string>();
  const choose = (text: string | undefined): void => {
    const asked = text?.trim();
    if (asked !== undefined && asked !== value) onChange(asked === '' ? undefined : asked);
    type(undefined);
  };
  return (
    <label className={`flex min-w-0 flex-col gap-1 text-[13px] text-soft ${isDay ? 'sm:w-36' : 'sm:w-30'}`}>
      {label}
      <input
        type={isDay ? 'date' : 'text'}
        value={typed ?? value}
        onChange={({ target }) => (isDay ? choose : type)(target.value)}
        onBlur={() => choose(typed)}
        onKeyDown={({ key }) => {
          if (key === 'Enter') choose(typed);
        }}
        className={CONTROL}
      />
    </label>
  );
}

const ALL = 'all';
const KINDS = [
  { value: ALL, name: texts.allKinds },
  ...Object.entries(texts.kinds).map(([value, name]) => ({ value, name })),
];

type Asked = Readonly<Record<Filter, string | undefined>>;

interface FiltersProps {
  readonly period: Period;
  readonly asked: Asked;
  readonly keep: (changes: Partial<Asked>) => void;
}

function Filters({ period, asked, keep }: FiltersProps) {
  const isFiltered = FILTERS.some((id) => asked[id] !== undefined);
  const none = Object.fromEntries(FILTERS.map((id) => [id, undefined]));
  return (
    <div className="grid grid-cols-2 items-end gap-3 sm:flex sm:flex-wrap">
      <FilterInput
        label={texts.filters.from}
        isDay
        value={asked.from ?? period.first}
        onChange={(from) => keep({ from })}
      />
      <FilterInput
        label={texts.filters.to}
        isDay
        value={asked.to ?? period.last}
        onChange={(to) => keep({ to })}
      />
      {TYPED.map((id) => (
        <FilterInput
          key={id}
          label={texts.filters[id]}
          value={asked[id] ?? ''}
          onChange={(value) => keep({ [id]: id === 'currency' ? value?.toUpperCase() : value })}
        />
      ))}
      <div className="flex min-w-0 flex-col gap-1 text-[13px] text-soft sm:w-40">
        {texts.filters.kind}
        <Select
          label={texts.filters.kind}
          choices={KINDS}
          value={asked.kind ?? ALL}
          onChange={(kind) => keep({ kind: kind === ALL ? undefined : kind })}
        />
      </div>
      {isFiltered && (
        <Button look="quiet" onClick={() => keep(none)}>
          {texts.clear}
        </Button>
      )}
    </div>
  );
}

const sum = columnsFor<PaymentSum, keyof typeof texts.sumColumns>(texts.sumColumns);

const SUM_COLUMNS: readonly Column<PaymentSum>[] = [
  sum.text('currency', ({ currency }) => currency),
  sum.count('payments', ({ payments }) => payments),
  sum.minor('gross', ({ gross_amount_minor, currency }) => [gross_amount_minor, currency]),
  sum.minor('vat', ({ vat_amount_minor, currency }) => [vat_amount_minor, currency]),
  sum.minor('net', ({ net_amount_minor, currency }) => [net_amount_minor, currency]),
  sum.minor('fee', ({ provider_fee_minor, currency }) => [provider_fee_minor, currency]),
  sum.minor('disputeFee', ({ dispute_fee_minor, currency }) => [dispute_fee_minor, currency]),
  sum.count('without', ({ without_amount }) => without_amount),
];

const TONES = {
  sale: 'good',
  refund: 'warn',
  dispute: 'bad',
  reversal: 'good',
  correction: 'neutral',
} as const;

const of = columnsFor<Payment, keyof typeof texts.columns>(texts.columns);

const COLUMNS: readonly Column<Payment>[] = [
  of.time('booked_at', ({ booked_at }) => booked_at),
  of.tenant('tenant_id', ({ tenant_id }) => tenant_id),
  of.text('kind', ({ kind }) => texts.kinds[kind], {
    isWhole: true,
    show: ({ kind }) => <Badge tone={TONES[kind]}>{texts.kinds[kind]}</Badge>,
  }),
  of.text('document', ({ kind }) => documentOf(kind), {
    isWhole: true,
    show: ({ kind, tenant_id, grant_id }) => (
      <DocumentLink kind={kind} tenantId={tenant_id} grantId={grant_id} />
    ),
  }),
  of.count('credits', ({ credits }) => credits),
  of.minor('gross', ({ gross_amount_minor, currency }) => [gross_amount_minor, currency]),
  of.minor('vat', ({ vat_amount_minor, currency }) => [vat_amount_minor, currency]),
  of.minor('net', ({ net_amount_minor, currency }) => [net_amount_minor, currency]),
  of.minor('fee', ({ provider_fee_minor, currency }) => [provider_fee_minor, currency]),
  of.minor('disputeFee', ({ dispute_fee_minor, currency }) => [dispute_fee_minor, currency]),
  of.text('provider', ({ provider }) => provider),
  of.text('transaction', ({ provider_txn_id }) => provider_txn_id, { share: 1.8 }),
  of.text('payout', ({ payout_id }) => payout_id, { share: 1.4 }),
  of.text('invoice', ({ invoice_ref }) => invoice_ref),
  of.text('rate', ({ fx_rate_to_usd }) => fx_rate_to_usd, { isNumber: true, share: 1.2 }),
];

const isKind = (text: string | undefined): text is Kind => text !== undefined && text in texts.kinds;

const SORTS = {
  booked_at: 'booked_at',
  tenant_id: 'tenant_id',
  kind: 'kind',
  credits: 'credits',
  gross: 'gross_amount_minor',
  vat: 'vat_amount_minor',
  net: 'net_amount_minor',
  fee: 'provider_fee_minor',
  disputeFee: 'dispute_fee_minor',
  provider: 'provider',
  transaction: 'provider_txn_id',
  payout: 'payout_id',
} as const;

/** What was paid and given back by all tenants, of a period and filtered, with its sums. */
export function Payments({ period }: { period: Period }) {
  const [asked, keep] = useAddressValues(FILTERS);
  const { kind, from = period.first, to = period.last, ...others } = asked;
  const given = Object.entries({ ...others, kind: isKind(kind) ? kind : undefined }).filter(
    ([, value]) => value !== undefined,
  );
  const query = { from, to, ...Object.fromEntries(given) };
  const list = usePages('listPayments', { query }, { sorts: SORTS });
  const sums = list.first?.by_currency ?? undefined;
  return (
    <div className="flex flex-col gap-4">
      <Filters period={period} asked={asked} keep={keep} />
      <ProblemNote error={list.error} onRetry={list.again} />
      {list.error === null && (
        <>
          {sums !== undefined && sums.length > 0 && (
            <Card title={texts.sums}>
              <DataTable
                label={`${texts.sums} ${period.month}`}
                columns={SUM_COLUMNS}
                items={sums}
                idOf={({ currency }) => currency}
                isSearched
              />
            </Card>
          )}
          <DataTable
            label={texts.list(period.month)}
            columns={COLUMNS}
            list={list}
            idOf={(row) => `${row.kind} ${row.grant_id} ${row.created_at}`}
            height={560}
            empty={<Empty title={texts.none.title} say={texts.none.say} />}
          />
        </>
      )}
    </div>
  );
}
