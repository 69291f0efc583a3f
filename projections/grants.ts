import { omit, onlyRow, pick, type Projector, rowReader, table, wholeOf } from './engine/table.ts';
import { type DisputeStatus, disputeStatus } from '../domain/account/messages.ts';
import { negated } from '../domain/kernel/amounts.ts';
import { isStaleRate, rateAgeDays } from '../domain/fxRates.ts';
import { bulk, inserting } from './engine/bulk.ts';
import {
  only,
  type ProjectedEvent,
  type ProjectedEventOf,
  type SqlRow,
  type SqlTx,
  tenantOf,
} from './engine/ports.ts';
import { behindKey, keyColumns, NEWEST_FIRST } from './engine/cursor.ts';
import { finding, listing, walked, type Page, type RowPage } from './engine/query.ts';

/**
 * Sales, refunds and disputes as negative rows linked to their sale, and reversals as positive ones. A sale knows what
 * of it is refunded.
 */
export const grants = table({
  name: 'grants',
  key: ['tenant_id', 'position'],
  columns: {
    tenant_id: 'sorted',
    position: 'position',
    grant_id: 'sorted',
    kind: 'text',
    credits: 'int8',
    bonus_credits: 'int8',
    original_grant_id: 'text?',
    refund_id: 'text?',
    refunded_credits: 'int8',
    refunded_amount_minor: 'int8',
    currency: 'text',
    gross_amount_minor: 'int8?',
    discount_minor: 'int8',
    vat_amount_minor: 'int8',
    provider_fee_minor: 'int8',
    net_amount_minor: 'int8?',
    discount_code: 'text?',
    payout_id: 'text?',
    tax_rate: 'text?',
    tax_country: 'text?',
    price_list_version: 'int4?',
    fx_rate_to_usd: 'text?',
    fx_rate_date: 'text?',
    provider: 'text',
    provider_txn_id: 'text',
    invoice_ref: 'text?',
    dispute_status: 'text?',
    dispute_fee_minor: 'int8',
    occurred_at: 'text',
    created_at: 'text',
  },
  indexes: [
    'unique (tenant_id, grant_id)',
    '(grant_id)',
    '(position)',
    // Payments are found as a provider's file names them.
    '(provider_txn_id)',
    '(created_at collate "C")',
    // For sales without a rate, and those of a currency and a day of its rates.
    "(position) where kind = 'sale' and fx_rate_to_usd is null and gross_amount_minor is not null",
    "(currency, fx_rate_date, position) where kind = 'sale'",
  ],
  fillfactor: 80,
});

const issue = inserting(grants);
const refunded = bulk({ tenant_id: 'text', grant_id: 'text', credits: 'int8', amount_minor: 'int8' });

const details = bulk({
  tenant_id: 'text',
  grant_id: 'text',
  vat: 'int8',
  fee: 'int8',
  invoice_ref: 'text?',
  discount_code: 'text?',
  payout_id: 'text?',
  tax_rate: 'text?',
  tax_country: 'text?',
});

const rates = bulk({ tenant_id: 'text', grant_id: 'text', rate: 'text', rate_date: 'text' });

const UNREFUNDED = { refunded_credits: 0, refunded_amount_minor: 0 };

/** Further facts of a sale; null where nothing is known of them. */
const factsOf = (data: ProjectedEventOf<'CreditsGranted'>['data']) => ({
  bonus_credits: data.bonus_credits ?? 0,
  discount_minor: data.discount_minor ?? 0,
  discount_code: data.discount_code ?? null,
  payout_id: data.payout_id ?? null,
  tax_rate: data.tax_rate ?? null,
  tax_country: data.tax_country ?? null,
});

const NO_DISPUTE = { dispute_status: null, dispute_fee_minor: 0 };

/** A refund has none of its own. */
const NO_FACTS = {
  bonus_credits: 0,
  discount_minor: 0,
  discount_code: null,
  payout_id: null,
  tax_rate: null,
  tax_country: null,
};

const saleRow = (event: ProjectedEventOf<'CreditsGranted'>) => {
  const { data, position } = event;
  const gross = data.gross_amount_minor;
  return {
    ...data,
    ...factsOf(data),
    ...NO_DISPUTE,
    ...UNREFUNDED,
    tenant_id: tenantOf(event),
    position,
    kind: 'sale',
    original_grant_id: null,
    refund_id: null,
    net_amount_minor: gross === null ? null : gross - data.vat_amount_minor,
  };
};

/** A refund takes price list and rate from its sale, in the statement. */
const refundRow = (event: ProjectedEventOf<'CreditsRefunded'>) => {
  const { data, position } = event;
  return {
    ...data,
    ...NO_FACTS,
    ...UNREFUNDED,
    tenant_id: tenantOf(event),
    position,
    grant_id: data.refund_id,
    kind: data.dispute === undefined ? 'refund' : 'dispute',
    dispute_status: data.dispute?.status ?? null,
    dispute_fee_minor: data.dispute?.fee_minor ?? 0,
    credits: negated(data.credits),
    original_grant_id: data.grant_id,
    refund_id: null,
    net_amount_minor: data.gross_amount_minor - data.vat_amount_minor,
    price_list_version: null,
    fx_rate_to_usd: null,
    fx_rate_date: null,
    invoice_ref: null,
  };
};

/** As that of a refund, the other way round; it names the refund too. */
const reversalRow = (event: ProjectedEventOf<'RefundReversed'>) => {
  const { data, position } = event;
  return {
    ...data,
    ...NO_FACTS,
    ...UNREFUNDED,
    tenant_id: tenantOf(event),
    position,
    grant_id: data.reversal_id,
    ...NO_DISPUTE,
    kind: 'reversal',
    original_grant_id: data.grant_id,
    net_amount_minor: data.gross_amount_minor - data.vat_amount_minor,
    price_list_version: null,
    fx_rate_to_usd: null,
    fx_rate_date: null,
    invoice_ref: null,
  };
};

/** Facts of sales that became known in a batch: of one sale each fact once. */
const laterFacts = (events: readonly ProjectedEvent[]) =>
  only(events, 'SaleDetailsAdded').map((event) => {
    const { grant_id, details: told } = event.data;
    return {
      tenant_id: tenantOf(event),
      grant_id,
      vat: told.vat_amount_minor ?? 0,
      fee: told.provider_fee_minor ?? 0,
      invoice_ref: told.invoice_ref ?? null,
      discount_code: told.discount_code ?? null,
      payout_id: told.payout_id ?? null,
      tax_rate: told.tax_rate ?? null,
      tax_country: told.tax_country ?? null,
    };
  });

const DETAILS = (schema: string) => `
  with added as (
    select tenant_id, grant_id, sum(vat)::int8 as vat, sum(fee)::int8 as fee, max(invoice_ref) as invoice_ref,
      max(discount_code) as discount_code, max(payout_id) as payout_id, max(tax_rate) as tax_rate,
      max(tax_country) as tax_country
    from ${details.source()} group by tenant_id, grant_id
  )
  update ${schema}.grants g
  set vat_amount_minor = g.vat_amount_minor + a.vat, net_amount_minor = g.net_amount_minor - a.vat,
    provider_fee_minor = g.provider_fee_minor + a.fee, invoice_ref = coalesce(a.invoice_ref, g.invoice_ref),
    discount_code = coalesce(a.discount_code, g.discount_code), payout_id = coalesce(a.payout_id, g.payout_id),
    tax_rate = coalesce(a.tax_rate, g.tax_rate), tax_country = coalesce(a.tax_country, g.tax_country)
  from added a where g.tenant_id = a.tenant_id and g.grant_id = a.grant_id`;

/** Rates that a batch booked for sales; of one sale the last. */
const laterRates = (events: readonly ProjectedEvent[]) => {
  const last = new Map(
    only(events, 'SaleRateBooked').map((event) => {
      const { grant_id, fx_rate_to_usd: rate, fx_rate_date: rate_date } = event.data;
      const row = { tenant_id: tenantOf(event), grant_id, rate, rate_date };
      return [`${row.tenant_id} ${grant_id}`, row];
    }),
  );
  return [...last.values()];
};

/** Refunds are at the rate of their sale. */
const RATES = (schema: string) => `
  update ${schema}.grants g set fx_rate_to_usd = u.rate, fx_rate_date = u.rate_date
  from ${rates.source()}
  where g.tenant_id = u.tenant_id and (g.grant_id = u.grant_id or g.original_grant_id = u.grant_id)`;

/** The sale is there already, though perhaps since a statement ago. */
const REFUND = (schema: string) => `
  with sums as (
    select tenant_id, grant_id, sum(credits)::int8 as credits, sum(amount_minor)::int8 as amount_minor
    from ${refunded.source()} group by tenant_id, grant_id
  ), sales as (
    update ${schema}.grants g
    set refunded_credits = g.refunded_credits + s.credits,
        refunded_amount_minor = g.refunded_amount_minor + s.amount_minor
    from sums s where g.tenant_id = s.tenant_id and g.grant_id = s.grant_id
    returning g.tenant_id, g.grant_id, g.price_list_version, g.fx_rate_to_usd, g.fx_rate_date
  )
  update ${schema}.grants g
  set price_list_version = s.price_list_version, fx_rate_to_usd = s.fx_rate_to_usd, fx_rate_date = s.fx_rate_date
  from sales s
  where g.tenant_id = s.tenant_id and g.original_grant_id = s.grant_id and g.price_list_version is null`;

const disputes = bulk({ tenant_id: 'text', grant_id: 'text', status: 'text', fee_minor: 'int8' });

/** The last news of each dispute of a batch. */
const disputeNews = (events: readonly ProjectedEvent[]) => {
  const last = new Map(
    only(events, 'DisputeChanged').map((event) => {
      const { refund_id: grant_id, status, fee_minor } = event.data;
      const row = { tenant_id: tenantOf(event), grant_id, status, fee_minor };
      return [`${row.tenant_id} ${grant_id}`, row];
    }),
  );
  return [...last.values()];
};

const DISPUTES = (schema: string) => `
  update ${schema}.grants g set dispute_status = u.status, dispute_fee_minor = u.fee_minor
  from ${disputes.source()} where g.tenant_id = u.tenant_id and g.grant_id = u.grant_id`;

/** What an event adds to what of its sale is refunded. */
const takenBy = (event: ProjectedEventOf<'CreditsRefunded' | 'RefundReversed'>, sign: 1 | -1) => ({
  tenant_id: tenantOf(event),
  grant_id: event.data.grant_id,
  credits: sign * event.data.credits,
  amount_minor: sign * event.data.gross_amount_minor,
});

/** What was sold, refunded and reversed, one row each. */
export const grantsProjector: Projector = {
  name: 'grants',
  version: 6,
  eventTypes: [
    'CreditsGranted',
    'SaleDetailsAdded',
    'SaleRateBooked',
    'CreditsRefunded',
    'RefundReversed',
    'DisputeChanged',
  ],
  tables: [grants],
  apply: async (tx, { schema, events }) => {
    const sales = only(events, 'CreditsGranted');
    const refunds = only(events, 'CreditsRefunded');
    const reversals = only(events, 'RefundReversed');
    await issue(tx, schema, [
      ...sales.map(saleRow),
      ...refunds.map(refundRow),
      ...reversals.map(reversalRow),
    ]);
    const facts = laterFacts(events);
    if (facts.length > 0) await tx.query(DETAILS(schema), details.values(facts));
    const booked = laterRates(events);
    if (booked.length > 0) await tx.query(RATES(schema), rates.values(booked));
    const news = disputeNews(events);
    if (news.length > 0) await tx.query(DISPUTES(schema), disputes.values(news));
    if (refunds.length + reversals.length === 0) return;
    const taken = [
      ...refunds.map((event) => takenBy(event, 1)),
      ...reversals.map((event) => takenBy(event, -1)),
    ];
    await tx.query(REFUND(schema), refunded.values(taken));
  },
};

const readGrant = rowReader(omit(grants.columns, 'tenant_id', 'position'));

const KINDS = ['sale', 'refund', 'dispute', 'reversal'] as const;

/** A sale, refund, dispute or reversal, as an item of `GrantHistoryResponse`; what was taken has negative credits. */
type GrantRow = Omit<ReturnType<typeof readGrant>, 'kind' | 'dispute_status'> & {
  readonly kind: (typeof KINDS)[number];
  readonly dispute_status: DisputeStatus | null;
  /** Age of the rate on the day of the payment, days; null: there is none. */
  readonly fx_rate_age_days: number | null;
  readonly fx_rate_stale: boolean;
};

const rowOf = (row: SqlRow): GrantRow => {
  const grant = readGrant(row);
  const { fx_rate_date: date, occurred_at } = grant;
  return {
    ...grant,
    kind: KINDS.find((kind) => kind === grant.kind) ?? 'sale',
    dispute_status: disputeStatus.options.find((status) => status === grant.dispute_status) ?? null,
    fx_rate_age_days: rateAgeDays(date, occurred_at),
    fx_rate_stale: isStaleRate(date, occurred_at),
  };
};

/** Whose a grant is, what it is, and its payment. */
export const grantById = finding(
  'select tenant_id, kind, provider, provider_txn_id from read.grants where grant_id = $1',
  (grantId: string) => [grantId],
  rowReader(pick(grants.columns, 'tenant_id', 'kind', 'provider', 'provider_txn_id')),
);

interface GrantsQuery extends Page {
  readonly tenant_id: string;
}

const OF_TENANT = { name: 'grants', order: NEWEST_FIRST };

/** A tenant's sales, refunds and reversals, newest first. The account counts them, so that no page has to. */
export const grantsOfTenant =
  (sql: SqlTx) =>
  (asked: GrantsQuery): Promise<RowPage<GrantRow>> =>
    walked(OF_TENANT, asked, {
      find: async ({ limit, place }) => {
        const { tenant_id, offset } = asked;
        const behind = place === undefined ? '' : `and ${behindKey(OF_TENANT, 4)}`;
        const rows = await sql.query(
          `select *, ${keyColumns(OF_TENANT)} from read.grants where tenant_id = $1 ${behind}
           order by position desc limit $2 offset $3`,
          [tenant_id, limit, place === undefined ? offset : 0, ...(place?.key ?? [])],
        );
        if (place !== undefined) return { rows, total: place.total };
        const total = onlyRow(
          await sql.query(
            'select coalesce((select grants_count from read.balances where tenant_id = $1), 0) as n',
            [tenant_id],
          ),
        );
        return { rows, total: wholeOf(total, 'n') };
      },
      read: rowOf,
    });

const readRated = rowReader(
  pick(
    grants.columns,
    'tenant_id',
    'position',
    'grant_id',
    'currency',
    'gross_amount_minor',
    'occurred_at',
    'fx_rate_to_usd',
  ),
);

/** A sale with money, and the rate that it is booked at. */
export type RatedSale = ReturnType<typeof readRated>;

/** Sales with money and without a rate after a position, in the order of the log. */
export const salesWithoutRate = listing(
  `select * from read.grants
   where kind = 'sale' and fx_rate_to_usd is null and gross_amount_minor is not null and position > $1
   order by position limit $2`,
  (after: bigint, limit: number) => [after, limit],
  readRated,
);

/** Sales that a correction may be about; those of one tenant, or one sale, where it says so. */
export interface BookedAt {
  readonly currency: string;
  readonly rate_date: string;
  readonly tenant_id: string | null;
  readonly grant_id: string | null;
}

/** Sales with money that are booked at a rate of that day, after a position, in the order of the log. */
export const salesBookedAt = listing(
  `select * from read.grants
   where kind = 'sale' and currency = $1 and fx_rate_date = $2 and gross_amount_minor is not null
     and ($3::text is null or tenant_id = $3) and ($4::text is null or grant_id = $4) and position > $5
   order by position limit $6`,
  ({ currency, rate_date, tenant_id, grant_id }: BookedAt, after: bigint, limit: number) => [
    currency,
    rate_date,
    tenant_id,
    grant_id,
    after,
    limit,
  ],
  readRated,
);
