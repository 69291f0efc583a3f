import type { DeferredRevenueItem, TaxItem, TenantItem } from '@quire/client';
import { csvOf, usePages, useRead } from '../../api/connection.ts';
import { books } from '../../texts/books.ts';
import { Stat } from '../../ui/card.tsx';
import { columnsFor } from '../../ui/columns.tsx';
import { Go, useAddressValue } from '../../ui/go.tsx';
import type { Period } from '../../ui/period.ts';
import { Select } from '../../ui/select.tsx';
import { Empty, ProblemNote } from '../../ui/states.tsx';
import { DataTable, type Column } from '../../ui/table.tsx';
import { Credits, Money } from '../../ui/values.tsx';

const { tax, deferred, dormant } = books;

const taxed = columnsFor<TaxItem, keyof typeof tax.columns>(tax.columns);

const TAX_COLUMNS: readonly Column<TaxItem>[] = [
  taxed.text('currency', ({ currency }) => currency, { share: 0.8 }),
  taxed.text('country', ({ tax_country }) => tax_country ?? tax.unknown, { share: 0.9 }),
  taxed.text('rate', ({ tax_rate }) => (tax_rate === null ? tax.unknown : tax.percent(tax_rate)), {
    isNumber: true,
    share: 0.9,
  }),
  taxed.count('sales', ({ sales }) => sales, 0.7),
  taxed.minor('sales_vat', (row) => [row.sales_vat_minor, row.currency]),
  taxed.count('refunds', ({ refunds }) => refunds, 0.8),
  taxed.minor('refunds_vat', (row) => [row.refunds_vat_minor, row.currency]),
  taxed.minor('vat', (row) => [row.vat_amount_minor, row.currency]),
  taxed.minor('net', (row) => [row.net_amount_minor, row.currency]),
  taxed.minor('sales_gross', (row) => [row.sales_gross_minor, row.currency]),
  taxed.minor('refunds_gross', (row) => [row.refunds_gross_minor, row.currency]),
  taxed.minor('fee', (row) => [row.provider_fee_minor, row.currency]),
];

/** VAT of a month by currency, country and rate. */
export function Tax({ period: { month, first, last } }: { period: Period }) {
  const input = { query: { from: first, to: last } };
  const read = useRead('getTaxReport', input);
  if (read.error !== null) return <ProblemNote error={read.error} onRetry={() => void read.refetch()} />;
  return (
    <div className="flex flex-col gap-3">
      <p className="text-soft">{tax.say}</p>
      <DataTable
        label={tax.list(month)}
        columns={TAX_COLUMNS}
        items={read.data?.items}
        idOf={({ currency, tax_rate, tax_country }) =>
          `${currency} ${String(tax_rate)} ${String(tax_country)}`
        }
        csv={() => csvOf('getTaxReport', input)}
        empty={<Empty title={tax.none.title} say={tax.none.say} />}
      />
    </div>
  );
}

type By = keyof typeof deferred.groups;
const GROUPS = Object.entries(deferred.groups).map(([value, name]) => ({ value, name }));
const isBy = (text: string | undefined): text is By => text !== undefined && text in deferred.groups;

/** A sale leads to its receipt; a gift has none. */
function Lot({ item: { lot_id, kind, tenant_id } }: { item: DeferredRevenueItem }) {
  if (lot_id === null || kind === 'given' || tenant_id === null) return lot_id ?? '–';
  return (
    <Go to={`/statements/${encodeURIComponent(tenant_id)}/receipts/${encodeURIComponent(lot_id)}`}>
      {lot_id}
    </Go>
  );
}

const held = columnsFor<DeferredRevenueItem, keyof typeof deferred.columns>(deferred.columns);

const KEYS: Readonly<Record<By, readonly Column<DeferredRevenueItem>[]>> = {
  tenant: [held.tenant('tenant_id', ({ tenant_id }) => tenant_id)],
  currency: [held.text('currency', ({ currency }) => currency)],
  lot: [
    held.tenant('tenant_id', ({ tenant_id }) => tenant_id),
    held.text('lot_id', ({ lot_id }) => lot_id, { share: 1.7, show: (item) => <Lot item={item} /> }),
    held.text('currency', ({ currency }) => currency, { share: 0.8 }),
  ],
};

const deferredColumns = (by: By): readonly Column<DeferredRevenueItem>[] => [
  ...KEYS[by],
  held.text('kind', ({ kind }) => deferred.kinds[kind], { share: 0.8 }),
  ...(by === 'lot' ? [] : [held.count('lots', ({ lots }) => lots, 0.8)]),
  held.count('left', ({ credits_left }) => credits_left),
  held.usd('deferred', ({ deferred_usd }) => deferred_usd),
  held.usd('paid', ({ paid_usd }) => paid_usd),
  held.usd('recognised', ({ recognised_usd }) => recognised_usd),
];

const DEFERRED_SORTS = {
  tenant_id: 'tenant_id',
  currency: 'currency',
  lot_id: 'lot_id',
  kind: 'kind',
  lots: 'lots',
  left: 'credits_left',
  deferred: 'deferred_usd',
  paid: 'paid_usd',
  recognised: 'recognised_usd',
} as const;

type DeferredTotals = Pick<
  DeferredRevenueItem,
  'credits_left' | 'paid_usd' | 'recognised_usd' | 'deferred_usd'
>;

function Totals({ totals }: { totals: DeferredTotals }) {
  const { stats } = deferred;
  const usd = (amount: string) => <Money amount={amount} currency="USD" isShort isMarked />;
  return (
    <div className="grid gap-3 sm:grid-cols-2 xl:grid-cols-4">
      <Stat name={stats.deferred} value={usd(totals.deferred_usd)} />
      <Stat name={stats.recognised} value={usd(totals.recognised_usd)} />
      <Stat name={stats.paid} value={usd(totals.paid_usd)} say={deferred.paidSay} />
      <Stat name={stats.left} value={<Credits value={totals.credits_left} />} say={deferred.leftSay} />
    </div>
  );
}

/** Recognised and deferred revenue at the end of a month, or now where it has not ended. */
export function Deferred({ period, now }: { period: Period; now: number }) {
  const [asked, choose] = useAddressValue('by');
  const by = isBy(asked) ? asked : 'tenant';
  const today = new Date(now).toISOString().slice(0, 10);
  const on = period.last < today ? period.last : today;
  const list = usePages('getDeferredRevenue', { query: { on, by } }, { sorts: DEFERRED_SORTS });
  const totals = list.first?.totals ?? undefined;
  return (
    <div className="flex flex-col gap-4">
      <ProblemNote error={list.error} onRetry={list.again} />
      {totals !== undefined && <Totals totals={totals} />}
      {list.error === null && (
        <DataTable
          key={by}
          label={deferred.list(by, on)}
          columns={deferredColumns(by)}
          list={list}
          idOf={({ tenant_id, currency, lot_id, kind }) => [tenant_id, currency, lot_id, kind].join(' ')}
          actions={
            <>
              <span className="w-36">
                <Select label={deferred.by} choices={GROUPS} value={by} onChange={choose} />
              </span>
              <span className="text-[13px] text-soft">{deferred.on(on)}</span>
            </>
          }
          empty={<Empty title={deferred.none.title} say={deferred.none.say} />}
        />
      )}
    </div>
  );
}

const DAYS = ['30', '90', '180', '365'] as const;
const CHOICES = DAYS.map((days) => ({ value: days, name: dormant.days(days) }));

const unused = columnsFor<TenantItem, keyof typeof dormant.columns>(dormant.columns);

const DORMANT_COLUMNS: readonly Column<TenantItem>[] = [
  unused.tenant('tenant_id', ({ tenant_id }) => tenant_id),
  unused.count('balance', ({ balance_credits }) => balance_credits),
  unused.count('held', ({ held_credits }) => held_credits),
  unused.count('purchased', ({ total_credits_purchased }) => total_credits_purchased),
  unused.count('used', ({ total_credits_used }) => total_credits_used),
  unused.time('last_used', ({ last_used_at }) => last_used_at),
  unused.time('last_active', ({ last_activity_at }) => last_activity_at),
];

const DORMANT_SORTS = {
  tenant_id: 'tenant_id',
  balance: 'balance_credits',
  held: 'held_credits',
  purchased: 'total_credits_purchased',
  used: 'total_credits_used',
  last_used: 'last_used_at',
  last_active: 'last_activity_at',
} as const;

/** Balances that nobody has used for some days. */
export function Dormant() {
  const [asked, choose] = useAddressValue('unused');
  const days = DAYS.find((one) => one === asked) ?? '90';
  const list = usePages('listTenants', { query: { unused_days: Number(days) } }, { sorts: DORMANT_SORTS });
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-3">
        <span className="w-36">
          <Select label={dormant.unused} choices={CHOICES} value={days} onChange={choose} />
        </span>
        <p className="text-soft">{dormant.say}</p>
      </div>
      <ProblemNote error={list.error} onRetry={list.again} />
      {list.error === null && (
        <DataTable
          label={dormant.list(days)}
          columns={DORMANT_COLUMNS}
          list={list}
          idOf={({ tenant_id }) => tenant_id}
          empty={<Empty title={dormant.none.title} say={dormant.none.say} />}
        />
      )}
    </div>
  );
}
