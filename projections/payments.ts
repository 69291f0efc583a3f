import type { BookedPayment } from '../domain/payout.ts';
import { localPeriods } from '../domain/kernel/timeZones.ts';
import { NEWEST_FIRST } from './engine/cursor.ts';
import type { SqlRow, SqlTx, SqlValue } from './engine/ports.ts';
import { listing, paging, type Page } from './engine/query.ts';
import { omit, onlyRow, pick, rowReader, textOf, type TimeRange, within } from './engine/table.ts';
import { grants } from './grants.ts';
import { paymentLines } from './paymentLines.ts';
import { type Filter, filterIn, patternOf, type Sorts, sortsBy } from './engine/sorts.ts';

/** Which payments are asked for; times are those of booking. */
interface PaymentsAsked extends TimeRange {
  readonly tenant_id?: string | undefined;
  /** In any case of its letters. */
  readonly provider?: string | undefined;
  readonly currency?: string | undefined;
  readonly kind?: string | undefined;
  readonly payout_id?: string | undefined;
  /** Part of an ID, a provider or a kind, in any case. Sums are of the rows that it leaves, too. */
  readonly q?: string | undefined;
  readonly filter?: Filter | undefined;
}

/** Columns that a payment does not show. */
const SHOWN = omit(paymentLines.columns, 'position', 'line', 'side', 'fx_rate_date');

const MONEY = ['gross_amount_minor', 'vat_amount_minor', 'provider_fee_minor', 'net_amount_minor'] as const;

const CHOSEN = `from read.payment_lines
  where ($1::text is null or booked_at >= $1) and ($2::text is null or booked_at <= $2)
    and ($3::text is null or tenant_id = $3) and ($4::text is null or lower(provider) = lower($4))
    and ($5::text is null or currency = $5) and ($6::text is null or kind = $6)
    and ($7::text is null or payout_id = $7)
    and ($8::text is null or tenant_id ilike $8 or provider ilike $8 or provider_txn_id ilike $8
      or grant_id ilike $8 or sale_id ilike $8 or kind ilike $8 or payout_id ilike $8)`;

const valuesOf = (asked: PaymentsAsked): readonly SqlValue[] => [
  asked.from ?? null,
  asked.to ?? null,
  asked.tenant_id ?? null,
  asked.provider ?? null,
  asked.currency ?? null,
  asked.kind ?? null,
  asked.payout_id ?? null,
  asked.q === undefined ? null : patternOf(asked.q),
];

const SORTS: Sorts = {
  ...sortsBy(paymentLines.columns, 'tenant_id', 'grant_id', 'kind', 'credits', 'currency', 'provider'),
  ...sortsBy(paymentLines.columns, ...MONEY, 'dispute_fee_minor', 'payout_id', 'tax_country'),
  tax_rate: { by: 'tax_rate::numeric', as: 'numeric', isNullable: true, equals: 'tax_rate' },
  ...sortsBy(paymentLines.columns, 'provider_txn_id', 'occurred_at', 'created_at', 'booked_at'),
};

/** Sales, refunds, disputes, reversals and corrections of all tenants, newest first. */
export const payments = paging(
  {
    name: 'payments',
    columns: Object.keys(SHOWN).join(', '),
    chosen: CHOSEN,
    order: [...NEWEST_FIRST, { by: 'line', as: 'int8' }],
    sorts: SORTS,
  },
  (asked: PaymentsAsked & Page) => valuesOf(asked),
  rowReader(SHOWN),
);

const readSums = rowReader({
  currency: 'text',
  payments: 'int8',
  without_amount: 'int8',
  gross_amount_minor: 'numeric',
  vat_amount_minor: 'numeric',
  provider_fee_minor: 'numeric',
  net_amount_minor: 'numeric',
  dispute_fee_minor: 'numeric',
});

/** Sums of the payments of a list in one currency, minor units; what went back is taken off. */
export const paymentSums = (sql: SqlTx) => async (asked: PaymentsAsked) => {
  const values = valuesOf(asked);
  const filtered = filterIn(SORTS, asked.filter, values.length + 1);
  const rows = await sql.query(
    `select currency, count(*) as payments, count(*) filter (where gross_amount_minor is null) as without_amount,
       coalesce(sum(dispute_fee_minor), 0)::numeric as dispute_fee_minor,
       ${MONEY.map((name) => `coalesce(sum(${name}), 0)::numeric as ${name}`).join(', ')}
     ${CHOSEN} ${filtered.where} group by currency order by currency`,
    [...values, ...filtered.values],
  );
  return rows.map(readSums);
};

/** A refund that was reversed is taken off the refunds. */
const sumOf = (side: 'sale' | 'refund', column: string, name: string): string =>
  `coalesce(${side === 'sale' ? '' : '-'}sum(${column}) filter (where side = '${side}'), 0)::numeric as ${name}`;

interface TaxAsked extends TimeRange {
  readonly currency?: string | undefined;
  /** Whose months. */
  readonly time_zone: string;
}

const taxSumsBy = (month: string, months: string) => `
   select ${month} as month, currency, tax_rate, tax_country,
     count(*) filter (where kind = 'sale') as sales, count(*) filter (where kind in ('refund', 'dispute')) as refunds,
     ${sumOf('sale', 'gross_amount_minor', 'sales_gross')}, ${sumOf('sale', 'vat_amount_minor', 'sales_vat')},
     ${sumOf('sale', 'provider_fee_minor', 'sales_fee')},
     ${sumOf('refund', 'gross_amount_minor', 'refunds_gross')}, ${sumOf('refund', 'vat_amount_minor', 'refunds_vat')},
     ${sumOf('refund', 'provider_fee_minor', 'refunds_fee')}
   from read.payment_lines ${months}
   where side <> 'fee' and ($1::text is null or booked_at >= $1) and ($2::text is null or booked_at <= $2)
     and ($3::text is null or currency = $3)
   group by 1, 2, 3, 4 order by 1, 2, 3, 4`;

const OF_UTC = taxSumsBy('left(booked_at, 7)', '');
const OF_ZONE = taxSumsBy(
  'm.month',
  `join unnest($4::text[], $5::text[], $6::text[]) as m(from_time, to_time, month)
     on booked_at between m.from_time and m.to_time`,
);

const readTax = rowReader({
  month: 'text',
  currency: 'text',
  tax_rate: 'text?',
  tax_country: 'text?',
  sales: 'int8',
  refunds: 'int8',
  sales_gross: 'numeric',
  sales_vat: 'numeric',
  sales_fee: 'numeric',
  refunds_gross: 'numeric',
  refunds_vat: 'numeric',
  refunds_fee: 'numeric',
});

/** The time in which anything was booked. */
const SPAN = `
  select coalesce(min(booked_at), $1) as first, coalesce(max(booked_at), $1) as last
  from read.payment_lines`;

/** Money that was taken and given back by month of booking, currency, tax rate and country; minor units. */
export const taxSums =
  (sql: SqlTx) =>
  async ({ from, to, currency, time_zone }: TaxAsked) => {
    const filter = [from ?? null, to ?? null, currency ?? null];
    if (time_zone === 'UTC') return (await sql.query(OF_UTC, filter)).map(readTax);
    const span = onlyRow(await sql.query(SPAN, ['2000-01-01T00:00:00.000Z']));
    const range = within({ from, to }, { from: textOf(span, 'first'), to: textOf(span, 'last') });
    const months = localPeriods(time_zone, range, (day) => day.slice(0, 7));
    const given = [months.map((one) => one.from), months.map((one) => one.to), months.map(({ key }) => key)];
    return (await sql.query(OF_ZONE, [...filter, ...given])).map(readTax);
  };

const BOOKED = {
  ...pick(
    grants.columns,
    'position',
    'tenant_id',
    'grant_id',
    'kind',
    'provider',
    'provider_txn_id',
    'currency',
  ),
  ...pick(
    grants.columns,
    'gross_amount_minor',
    'provider_fee_minor',
    'dispute_fee_minor',
    'payout_id',
    'credits',
    'bonus_credits',
  ),
  ...pick(grants.columns, 'discount_minor', 'occurred_at'),
};

const readBooked = rowReader(BOOKED);

/** A payment as the books have it now, with its place in the log. */
export type BookedAt = BookedPayment & { readonly position: bigint };

/** Amounts that went back are without a sign in the table. */
const bookedOf = (row: SqlRow): BookedAt => {
  const { gross_amount_minor: gross, provider_fee_minor, dispute_fee_minor, kind, ...rest } = readBooked(row);
  const fee = provider_fee_minor;
  const isBack = kind === 'refund' || kind === 'dispute';
  return {
    ...rest,
    kind: kind as BookedPayment['kind'],
    amount_minor: isBack && gross !== null ? 0 - gross : gross,
    // A provider takes the fee of a dispute like any other.
    fee_minor: (isBack ? 0 - fee : fee) + dispute_fee_minor,
  };
};

const SELECT_BOOKED = `select ${Object.keys(BOOKED).join(', ')} from read.grants`;

/** Payments of a provider, in any case of its name, by their transactions. */
export const paymentsNamed = listing(
  `${SELECT_BOOKED} where provider_txn_id = any($2::text[]) and lower(provider) = lower($1)`,
  (provider: string, names: readonly string[]) => [provider, names],
  bookedOf,
);

/** Which payments a provider's file should have. */
export interface ExpectedPayments {
  readonly provider: string;
  /** When they happened; inclusive. */
  readonly from: string | null;
  readonly to: string | null;
  readonly payout_id: string | null;
}

/** Payments of a provider behind a position, in the order of the log. */
export const paymentsExpected = listing(
  `${SELECT_BOOKED} where position > $1 and lower(provider) = lower($2)
     and ($3::text is null or occurred_at >= $3) and ($4::text is null or occurred_at <= $4)
     and ($5::text is null or payout_id = $5)
   order by position limit $6`,
  ({ provider, from, to, payout_id }: ExpectedPayments, after: bigint, limit: number) => [
    after,
    provider,
    from,
    to,
    payout_id,
    limit,
  ],
  bookedOf,
);
