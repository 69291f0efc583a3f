import { z } from 'zod';
import type { OpenClaim } from '../commands/payments.ts';
import type { Queries } from '../queries/queries.ts';
import { routesOver } from '../server/routes.ts';
import {
  checkKnown,
  creditsOut,
  currencyIn,
  dayOrTime,
  decimalOut,
  instantOut,
  logIdOut,
  minorOut,
  pageFacts,
  pageMembers,
  pagingQuery,
  plainText,
  tenantIdText,
  zoned,
} from './basics.ts';

/** What these routes need. */
export interface PaymentsDeps {
  readonly queries: Pick<Queries, 'balanceOfTenant' | 'paymentSums' | 'payments' | 'taxSums'>;
  /** Payments that are claimed and neither booked nor released, the oldest, at most so many. */
  readonly openPayments: (limit: number, signal: AbortSignal) => Promise<readonly OpenClaim[]>;
  /** Which log the read models are of; null: not known yet. */
  readonly logId: () => string | null;
}

const { get } = routesOver<PaymentsDeps>();

const paymentKind = z.enum(['sale', 'refund', 'dispute', 'reversal', 'correction']);

const payment = z
  .strictObject({
    tenant_id: z.string(),
    grant_id: z.string(),
    kind: paymentKind,
    credits: creditsOut,
    original_grant_id: z.string().nullable(),
    currency: z.string(),
    gross_amount_minor: minorOut.nullable(),
    vat_amount_minor: minorOut,
    provider_fee_minor: minorOut,
    net_amount_minor: minorOut.nullable(),
    price_list_version: z.int().nullable(),
    fx_rate_to_usd: decimalOut.nullable(),
    provider: z.string(),
    provider_txn_id: z.string(),
    invoice_ref: z.string().nullable(),
    payout_id: z.string().nullable(),
    tax_rate: decimalOut.nullable(),
    tax_country: z.string().nullable(),
    dispute_fee_minor: minorOut.meta({ description: 'Fee that the provider kept for a dispute.' }),
    occurred_at: instantOut,
    created_at: instantOut,
    booked_at: instantOut.meta({
      description: 'Its time, or the first instant that was open for booking when it came.',
    }),
  })
  .meta({
    id: 'Payment',
    description:
      'Money that came, or went back: then its amounts and credits are negative. A `correction` is a fact of a sale ' +
      'that became known after its month was closed. A fee that became known after its dispute is a row of its ' +
      'own, of kind `dispute`.',
  });

const paymentSum = z
  .strictObject({
    currency: z.string(),
    payments: z.int().meta({ description: 'Number of rows.' }),
    without_amount: z.int().meta({ description: 'Sales whose amount is not known: they count as 0.' }),
    gross_amount_minor: minorOut,
    vat_amount_minor: minorOut,
    provider_fee_minor: minorOut,
    net_amount_minor: minorOut,
    dispute_fee_minor: minorOut.meta({ description: 'Fees of disputes: a cost beside these sums.' }),
  })
  .meta({ id: 'PaymentSum' });

const paymentList = z
  .strictObject({
    log_id: logIdOut,
    items: z.array(payment),
    by_currency: z.array(paymentSum).nullable().meta({
      description: 'Sums of all rows of the query, not of the page; null on pages with a cursor.',
    }),
    ...pageMembers,
  })
  .meta({ id: 'PaymentList' });

/** Sums are exact in the database; an answer has them as JSON numbers. */
const asNumbers = <Sums extends Readonly<Record<string, unknown>>>(sums: Sums) =>
  Object.fromEntries(
    Object.entries(sums).map(([name, sum]) => [name, typeof sum === 'bigint' ? Number(sum) : sum]),
  ) as { readonly [Name in keyof Sums]: Sums[Name] extends bigint ? number : Sums[Name] };

export const listPayments = get(
  '/v1/admin/payments',
  {
    summary: 'Sales, refunds, disputes, reversals and corrections of all tenants, newest first',
    description:
      '`from` and `to` are of booking (`booked_at`) and inclusive, so a closed month never changes. A provider is ' +
      'found in any case. Amounts of refunds and disputes are negative, so that sums are what remains; ' +
      '`net_amount_minor` is gross less VAT.',
    access: 'admin',
    query: zoned({
      from: dayOrTime.optional(),
      to: dayOrTime.optional(),
      provider: plainText(1, 64).optional(),
      currency: currencyIn.optional(),
      kind: paymentKind.optional(),
      payout_id: plainText(1, 255).optional(),
      tenant_id: tenantIdText.optional(),
      ...pagingQuery,
    }),
    reply: { status: 200, schema: paymentList },
    problems: ['tenant_not_found'],
    reads: 'all',
  },
  async ({ query }, { queries, logId }) => {
    const found = await queries.payments(query);
    if (query.tenant_id !== undefined)
      await checkKnown({ queries }, query.tenant_id, { isEmpty: found.total === 0 });
    const sums = query.cursor === undefined ? await queries.paymentSums(query) : null;
    return {
      log_id: logId(),
      items: found.items.map(({ kind, sale_id, ...row }) => ({
        ...row,
        kind: kind as z.input<typeof paymentKind>,
        original_grant_id: kind === 'sale' ? null : sale_id,
      })),
      by_currency: sums?.map((sum) => asNumbers(sum)) ?? null,
      ...pageFacts(query, found),
    };
  },
);

/** More claims than a person looks through; each is looked up in the log. */
const OPEN_PAYMENTS_MAX = 500;

const openPayment = z
  .strictObject({
    provider: z.string(),
    provider_txn_id: z.string(),
    tenant_id: z.string(),
    kind: z.enum(['sale', 'refund', 'reversal']),
    credits: creditsOut
      .nullable()
      .meta({ description: 'Of the request; null: it does not say, or cannot be read.' }),
    claimed_at: instantOut,
    stuck: z.enum(['unreadable', 'may_have_been_refused']).nullable().meta({
      description: 'Why the service does not finish it by itself; null: it does, within 2 minutes.',
    }),
  })
  .meta({ id: 'OpenPayment' });

export const listOpenPayments = get(
  '/v1/admin/payments/open',
  {
    summary: 'Payments that are claimed and neither booked nor released, oldest first',
    description:
      'A payment whose process died is finished by the service; what is `stuck` has to be sent again or released ' +
      '(`quire payments release`). What is finished after a month was closed is booked in the open one. The oldest ' +
      '500 are listed.',
    access: 'admin',
    bucket: 'heavy',
    reply: {
      status: 200,
      schema: z.strictObject({ items: z.array(openPayment) }).meta({ id: 'OpenPaymentList' }),
    },
    reads: 'all',
  },
  async ({ signal }, { openPayments }) => {
    const claims = await openPayments(OPEN_PAYMENTS_MAX, signal);
    return { items: claims.map(({ stream: _, ...claim }) => claim) };
  },
);

const taxItem = z
  .strictObject({
    month: z.string().meta({ description: 'Month of booking, `YYYY-MM`.' }),
    currency: z.string(),
    tax_rate: decimalOut.nullable().meta({ description: 'VAT in percent; null: not known.' }),
    tax_country: z.string().nullable().meta({ description: 'Country whose VAT it is; null: not known.' }),
    sales: z.int(),
    refunds: z.int(),
    sales_gross_minor: minorOut.meta({ description: 'Gross of sales.' }),
    sales_vat_minor: minorOut.meta({ description: 'VAT of sales.' }),
    sales_fee_minor: minorOut.meta({ description: 'Fees of sales.' }),
    refunds_gross_minor: minorOut.meta({ description: 'Gross of refunds.' }),
    refunds_vat_minor: minorOut.meta({ description: 'VAT of refunds.' }),
    refunds_fee_minor: minorOut.meta({ description: 'Fees that the provider gave back.' }),
    gross_amount_minor: minorOut.meta({ description: 'Gross of sales less that of refunds.' }),
    vat_amount_minor: minorOut.meta({ description: 'VAT of sales less that of refunds: what is due.' }),
    net_amount_minor: minorOut.meta({ description: 'Gross less VAT, each less that of refunds.' }),
    provider_fee_minor: minorOut.meta({ description: 'Fees of sales less those given back.' }),
  })
  .meta({ id: 'TaxItem' });

const taxReport = z.strictObject({ log_id: logIdOut, items: z.array(taxItem) }).meta({ id: 'TaxReport' });

export const getTaxReport = get(
  '/v1/admin/tax-report',
  {
    summary: 'VAT, gross, net and fees by month, currency, tax rate and country',
    description:
      'Of sales, of refunds less those that were reversed, and what remains. `from` and `to` are of booking and ' +
      'inclusive; months are those of `time_zone`. Sales whose amount is not known count with 0.',
    access: 'admin',
    query: zoned({
      from: dayOrTime.optional(),
      to: dayOrTime.optional(),
      currency: currencyIn.optional(),
    }),
    reply: { status: 200, schema: taxReport },
    reads: 'all',
  },
  async ({ query }, { queries, logId }) => {
    const rows = (await queries.taxSums(query)).map((row) => asNumbers(row));
    return {
      log_id: logId(),
      items: rows.map((row) => ({
        ...{ month: row.month, currency: row.currency, tax_rate: row.tax_rate, tax_country: row.tax_country },
        ...{ sales: row.sales, refunds: row.refunds },
        ...{
          sales_gross_minor: row.sales_gross,
          sales_vat_minor: row.sales_vat,
          sales_fee_minor: row.sales_fee,
        },
        ...{ refunds_gross_minor: row.refunds_gross, refunds_vat_minor: row.refunds_vat },
        refunds_fee_minor: row.refunds_fee,
        gross_amount_minor: row.sales_gross - row.refunds_gross,
        vat_amount_minor: row.sales_vat - row.refunds_vat,
        net_amount_minor: row.sales_gross - row.refunds_gross - (row.sales_vat - row.refunds_vat),
        provider_fee_minor: row.sales_fee - row.refunds_fee,
      })),
    };
  },
);
