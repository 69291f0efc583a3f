import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { PAYOUT_FINDINGS, type PayoutFinding } from '../../../domain/payout.ts';
import { namedMapping, UnreadablePayoutFile, WrongMapping } from '../../../domain/payoutFile.ts';
import type { PayoutAsked, PayoutComparison } from '../../queries/payouts.ts';
import type { Queries } from '../../queries/queries.ts';
import { CSV_TYPE, csvLine } from '../../server/csv.ts';
import { invalid, problem } from '../../server/problems.ts';
import { issuesOf } from '../../server/request.ts';
import { routesOver } from '../../server/routes.ts';
import {
  checkKnown,
  creditsOut,
  currencyIn,
  dayOrTime,
  decimalOut,
  fromBoundary,
  instantOut,
  logIdOut,
  minorOut,
  pageFacts,
  pageMembers,
  listQuery,
  plainText,
  tenantIdText,
  toBoundary,
  zoned,
} from '../schemas/basics.ts';
import { payments } from '../../../projections/payments.ts';

/** What these routes need. */
export interface PaymentsDeps {
  readonly queries: Pick<Queries, 'balanceOfTenant' | 'paymentSums' | 'payments' | 'taxSums'>;
  /** Throws UnreadablePayoutFile. */
  readonly comparePayout: (asked: PayoutAsked) => Promise<PayoutComparison>;
  /** Which log the read models are of; null: not known yet. */
  readonly logId: () => string | null;
}

const { get, post } = routesOver<PaymentsDeps>();

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
const asNumbers = <Sums extends object>(sums: Sums) =>
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
      ...listQuery(payments),
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
        month: row.month,
        currency: row.currency,
        tax_rate: row.tax_rate,
        tax_country: row.tax_country,
        sales: row.sales,
        refunds: row.refunds,
        sales_gross_minor: row.sales_gross,
        sales_vat_minor: row.sales_vat,
        sales_fee_minor: row.sales_fee,
        refunds_gross_minor: row.refunds_gross,
        refunds_vat_minor: row.refunds_vat,
        refunds_fee_minor: row.refunds_fee,
        gross_amount_minor: row.sales_gross - row.refunds_gross,
        vat_amount_minor: row.sales_vat - row.refunds_vat,
        net_amount_minor: row.sales_gross - row.refunds_gross - (row.sales_vat - row.refunds_vat),
        provider_fee_minor: row.sales_fee - row.refunds_fee,
      })),
    };
  },
);

/** Findings of an answer in JSON; a CSV has all. */
const ITEMS_MAX = 2_000;
const CSV = 'text/csv';
/** Characters that are handed over at once. */
const PIECE_CHARS = 65_536;

const payoutKind = z.enum(['sale', 'refund', 'dispute', 'reversal']);

const payoutRow = z
  .strictObject({
    row: z.int().meta({ description: 'Number of the row, 1 for the first below the header.' }),
    row_id: z.string().meta({ description: "The provider's identity of the row." }),
    kind: payoutKind,
    currency: z.string(),
    amount_minor: minorOut.meta({ description: 'Minor units; negative: money that went back.' }),
    fee_minor: minorOut.nullable().meta({
      description: 'What the provider kept; null: the file has no fee in this currency.',
    }),
    payout_id: z.string().nullable(),
  })
  .meta({ id: 'PayoutRow' });

const bookedPayment = z
  .strictObject({
    tenant_id: z.string(),
    grant_id: z.string(),
    kind: payoutKind,
    provider: z.string(),
    provider_txn_id: z.string(),
    currency: z.string(),
    amount_minor: minorOut.nullable().meta({ description: 'Gross; null: the books do not know it.' }),
    fee_minor: minorOut.meta({ description: 'As booked by now; negative: what the provider gave back.' }),
    payout_id: z.string().nullable(),
  })
  .meta({ id: 'BookedPayment' });

const toldSale = z
  .strictObject({
    tenant_id: z.string(),
    provider: z.string(),
    provider_txn_id: z.string(),
    credits: z.int(),
    bonus_credits: z.int(),
    currency: z.string(),
    gross_amount_minor: minorOut.nullable(),
    discount_minor: minorOut,
    provider_fee_minor: minorOut.optional(),
    payout_id: z.string().optional(),
  })
  .meta({ id: 'SaleToldAgain' });

const FINDINGS: Readonly<Record<(typeof PAYOUT_FINDINGS)[number], string>> = {
  missing_in_books: 'The books do not have the payment.',
  missing_in_file: 'The file does not have the payment.',
  doubled_in_books: 'One row is two payments.',
  doubled_in_file: 'A row comes twice, or two rows are one payment.',
  other_amount: 'The gross amounts differ.',
  other_currency: 'The currencies differ.',
  other_fee: 'The fees differ.',
  fee_not_booked: 'Only the file has the fee.',
  other_payout: 'The payouts differ.',
  payout_not_booked: 'Only the file has the payout, which is no difference.',
};

const finding = z
  .strictObject({
    finding: z.enum(PAYOUT_FINDINGS).meta({
      description: Object.entries(FINDINGS)
        .map(([name, text]) => `\`${name}\`: ${text}`)
        .join(' '),
    }),
    row: payoutRow.nullable().meta({ description: 'The row of the file; null: there is none.' }),
    payment: bookedPayment.nullable().meta({ description: 'The payment in the books; null: there is none.' }),
    tell: toldSale.nullable().meta({
      description: 'Body of `POST /v1/billing/credits` that tells the sale what only the file has.',
    }),
  })
  .meta({ id: 'PayoutFinding' });

const counts = z
  .strictObject(
    Object.fromEntries(
      PAYOUT_FINDINGS.map((name) => [name, z.int().meta({ description: FINDINGS[name] })]),
    ) as Record<(typeof PAYOUT_FINDINGS)[number], z.ZodInt>,
  )
  .meta({ id: 'PayoutCounts' });

const totals = z
  .strictObject({
    currency: z.string(),
    rows: z.int().meta({ description: 'Rows of the file.' }),
    file_amount_minor: minorOut.meta({ description: 'Gross amounts of the file, in minor units.' }),
    file_fee_minor: minorOut.meta({ description: 'Fees of the file, in minor units.' }),
    payments: z.int().meta({ description: 'Payments in the books that the file has, or should have.' }),
    booked_amount_minor: minorOut.meta({ description: 'Gross amounts of the books, in minor units.' }),
    booked_fee_minor: minorOut.meta({ description: 'Fees of the books, in minor units.' }),
  })
  .meta({ id: 'PayoutTotals' });

const otherRows = z
  .strictObject({
    type: z.string().meta({ description: 'As the file has it, in small letters.' }),
    currency: z.string(),
    rows: z.int().meta({ description: 'Rows of the file.' }),
    amount_minor: minorOut.meta({ description: 'Their amounts, in minor units.' }),
    fee_minor: minorOut.meta({ description: 'Their fees, in minor units.' }),
  })
  .meta({ id: 'PayoutOtherRows' });

const comparison = z
  .strictObject({
    log_id: logIdOut,
    mapping: z
      .string()
      .meta({ description: 'Name of the mapping that was used; `own`: that of the request.' }),
    provider: z.string(),
    from: instantOut.nullable().meta({
      description: 'When payments happened that the file should have; null: any time.',
    }),
    to: instantOut.nullable().meta({ description: 'And up to here.' }),
    payout_id: z.string().nullable(),
    rows: z.int().meta({ description: 'Rows that are payments.' }),
    matched: z.int().meta({ description: 'Rows without a difference.' }),
    is_matching: z.boolean().meta({ description: 'Whether there is no difference at all.' }),
    counts,
    totals: z.array(totals).meta({ description: 'Sums of both sides by currency.' }),
    not_compared: z.array(otherRows).meta({
      description: 'Rows of types that are no payments, as fees of the account and payouts.',
    }),
    items: z.array(finding).meta({ description: `The first ${String(ITEMS_MAX)}; a CSV has all.` }),
    items_left_out: z.int().meta({ description: 'Findings that are not in `items`.' }),
  })
  .meta({ id: 'PaymentsComparison' });

const form = z
  .strictObject({
    mapping: plainText(1, 100_000)
      .optional()
      .meta({
        description:
          'How the file is read: a name (`stripe`, `stripe-history`, `stripe-api`) or JSON with the columns. ' +
          'Left out: the first whose columns the file has.',
      }),
    from: fromBoundary.optional().meta({
      description: 'The file should have all payments from here on. Default: the day of its first row.',
    }),
    to: toBoundary.optional().meta({ description: 'And up to here. Default: the day of its last row.' }),
    payout_id: plainText(1, 255).optional().meta({
      description: 'The file is of this payout: it should have the payments that the books have in it.',
    }),
  })
  .meta({ id: 'ComparePaymentsForm' });

const AT = ['body', 'mapping'];

/** The problem that an error of a comparison is; every other one stays what it is. */
const problemOf = (error: unknown): unknown => {
  if (error instanceof UnreadablePayoutFile) return problem('unreadable_file', error.message);
  if (!(error instanceof WrongMapping)) return error;
  return error.issues.length === 0
    ? invalid({ loc: AT, msg: error.message, type: 'value_error' })
    : invalid(...error.issues.flatMap((issue) => issuesOf(issue, AT)));
};

const itemOf = ({ finding: kind, line, payment, tell }: PayoutFinding): z.input<typeof finding> => ({
  finding: kind,
  row: line && {
    row: line.row,
    row_id: line.row_id,
    kind: line.kind,
    currency: line.currency,
    amount_minor: line.amount_minor,
    fee_minor: line.fee_minor,
    payout_id: line.payout_id,
  },
  payment: payment && {
    tenant_id: payment.tenant_id,
    grant_id: payment.grant_id,
    kind: payment.kind,
    provider: payment.provider,
    provider_txn_id: payment.provider_txn_id,
    currency: payment.currency,
    amount_minor: payment.amount_minor,
    fee_minor: payment.fee_minor,
    payout_id: payment.payout_id,
  },
  tell,
});

/** Columns of the CSV. */
const CSV_COLUMNS = {
  finding: ({ finding: kind }) => kind,
  row: ({ line }) => line?.row,
  row_id: ({ line }) => line?.row_id,
  names: ({ line }) => line?.names.join(' '),
  kind: ({ line, payment }) => line?.kind ?? payment?.kind,
  tenant_id: ({ payment }) => payment?.tenant_id,
  grant_id: ({ payment }) => payment?.grant_id,
  provider_txn_id: ({ payment }) => payment?.provider_txn_id,
  file_currency: ({ line }) => line?.currency,
  file_amount_minor: ({ line }) => line?.amount_minor,
  file_fee_minor: ({ line }) => line?.fee_minor,
  file_payout_id: ({ line }) => line?.payout_id,
  booked_currency: ({ payment }) => payment?.currency,
  booked_amount_minor: ({ payment }) => payment?.amount_minor,
  booked_fee_minor: ({ payment }) => payment?.fee_minor,
  booked_payout_id: ({ payment }) => payment?.payout_id,
  tell: ({ tell }) => tell,
} as const satisfies Readonly<Record<string, (finding: PayoutFinding) => unknown>>;

async function* csvPieces(findings: readonly PayoutFinding[]): AsyncGenerator<string> {
  let text = csvLine(Object.keys(CSV_COLUMNS));
  for (const one of findings) {
    text += csvLine(Object.values(CSV_COLUMNS).map((cell) => cell(one)));
    if (text.length < PIECE_CHARS) continue;
    yield text;
    text = '';
    await nextTurn();
  }
  yield text;
}

const answerOf = (
  { findings, totals: sums, not_compared, counts: found, ...rest }: PayoutComparison,
  log_id: string | null,
): z.input<typeof comparison> => ({
  log_id,
  ...rest,
  counts: { ...found },
  totals: sums.map((sum) => asNumbers(sum)),
  not_compared: not_compared.map((sum) => asNumbers(sum)),
  items: findings.slice(0, ITEMS_MAX).map(itemOf),
  items_left_out: Math.max(0, findings.length - ITEMS_MAX),
});

/** Throws problems. */
const comparedWith = async (
  compare: PaymentsDeps['comparePayout'],
  asked: Omit<PayoutAsked, 'mapping'>,
  mapping: string | undefined,
): Promise<PayoutComparison> => {
  try {
    return await compare({ ...asked, mapping: namedMapping(mapping) });
  } catch (error) {
    throw problemOf(error);
  }
};

export const comparePayments = post(
  '/v1/admin/payments/compare',
  {
    summary: "A payment provider's file, compared with the payments in the books",
    description:
      'The file is CSV in UTF-8 with a header and up to 100,000 rows: balance transactions of Stripe (itemized ' +
      "report, export of the dashboard, or rows of its API), or another provider's by a mapping. Payments are found " +
      'by the names that the file has for them; fees are those that are booked by now. Nothing is changed.',
    access: 'admin',
    bucket: 'heavy',
    body: form,
    upload: true,
    reply: { status: 200, schema: comparison, alsoContentTypes: [CSV] },
    problems: ['unreadable_file'],
    reads: 'all',
  },
  async ({ body, file, prefers, signal, answer }, { comparePayout, logId }) => {
    if (file === undefined) throw new Error('the form has a file: nothing may stand for it');
    const { mapping, ...scope } = body;
    const compared = await comparedWith(comparePayout, { path: file.path, scope, signal }, mapping);
    if (prefers(['application/json', CSV]) !== CSV) return answerOf(compared, logId());
    answer.header('Content-Disposition', 'attachment; filename="comparePayments.csv"');
    return { contentType: CSV_TYPE, body: csvPieces(compared.findings) };
  },
);
