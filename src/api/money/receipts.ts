import { z } from 'zod';
import { bookedBy } from '../../../domain/books.ts';
import { sha256 } from '../../../domain/kernel/chain.ts';
import { canonicalJson } from '../../../domain/kernel/json.ts';
import type { Paper } from '../../../domain/ports/services.ts';
import { documentNumber, DOCUMENTS, type DocumentedKind, isDocumented } from '../../../domain/statement.ts';
import { type LogToRead, openingsIn } from '../../queries/log.ts';
import type { Queries } from '../../queries/queries.ts';
import { csvLine } from '../../server/csv.ts';
import { problem } from '../../server/problems.ts';
import { routesOver } from '../../server/routes.ts';
import { withTexts } from '../../writer/vault.ts';
import {
  addresseeOf,
  type BillingDetailsDeps,
  customerAt,
  customerOut,
  grouped,
  moneyText,
  PDF_TYPE,
  pdfAnswer,
  prefersPdf,
  sellerOut,
  timeText,
} from './billingDetails.ts';
import { creditsOut, decimalOut, instantOut, logIdOut, minorOut, plainText } from '../schemas/basics.ts';

/** What these routes need. */
export interface ReceiptsDeps extends BillingDetailsDeps {
  readonly queries: Pick<Queries, 'balanceOfTenant' | 'documentedPayment'>;
  readonly log: Pick<LogToRead, 'read' | 'vault'>;
  /** Which log the figures are of; null: not known yet. */
  readonly logId: () => string | null;
}

const { get } = routesOver<ReceiptsDeps>();

const receiptFigures = {
  number: z.string().meta({
    description:
      'Without gaps: the n-th sale, refund or reversal of the tenant in the order of the log has the number n of its ' +
      'series (`R`, `C`, `D`).',
  }),
  document: z.enum(['receipt', 'credit_note', 'debit_note']).meta({
    description: 'Of a sale, of a refund, and of a refund that was undone.',
  }),
  tenant_id: z.string(),
  grant_id: z.string().meta({ description: 'ID of the sale, the refund or the reversal.' }),
  corrects: z.string().nullable().meta({
    description: 'Number of the receipt that a note is about; null on a receipt.',
  }),
  undoes: z.string().nullable().meta({
    description: 'Number of the credit note that a debit note undoes; null on others.',
  }),
  booked_at: instantOut.meta({ description: 'Date of booking: that of the document.' }),
  occurred_at: instantOut,
  credits: creditsOut.meta({ description: 'Sold, taken back or given back; the bonus is among them.' }),
  bonus_credits: creditsOut,
  currency: z.string(),
  gross_amount_minor: minorOut.nullable(),
  vat_amount_minor: minorOut.meta({
    description: 'As known when its month was closed; `corrections` has what was told later.',
  }),
  net_amount_minor: minorOut.nullable(),
  tax_rate: decimalOut.nullable(),
  tax_country: z.string().nullable(),
  discount_minor: minorOut,
  discount_code: z.string().nullable(),
  price_list_version: z.int().nullable(),
  fx_rate_to_usd: decimalOut.nullable().meta({
    description: 'As known when its month was closed; `corrections` has what was told later.',
  }),
  fx_rate_date: z.iso.date().nullable(),
  provider: z.string(),
  provider_txn_id: z.string(),
  position: z.string().meta({ description: 'Position of its event in the log.' }),
};

const correctionOut = z
  .strictObject({
    booked_at: instantOut.meta({ description: 'Date of booking, in the month that was open.' }),
    vat_amount_minor: minorOut.meta({ description: 'VAT to add; the net amount is less by it.' }),
    tax_rate: decimalOut.nullable(),
    tax_country: z.string().nullable(),
    fx_rate_to_usd: decimalOut.nullable().meta({
      description: 'The rate from then on; null where the correction is one of tax.',
    }),
    fx_rate_date: z.iso.date().nullable(),
    position: z.string().meta({ description: 'Position of its event in the log.' }),
  })
  .meta({
    id: 'ReceiptCorrection',
    description: 'Tax or exchange rate of a payment that was told after its month was closed.',
  });

const receiptResponse = z
  .strictObject({
    log_id: logIdOut,
    ...receiptFigures,
    corrections: z.array(correctionOut).meta({
      description:
        'VAT with its rate and country, and exchange rates, as told after the month of the document was closed, the ' +
        'oldest first.',
    }),
    invoice_ref: z.string().nullable(),
    customer: customerOut,
    seller: sellerOut,
    digest: z.string().meta({
      description:
        'SHA-256 as canonical JSON (RFC 8785) of all members but log_id, corrections, invoice_ref, customer, seller ' +
        'and digest.',
    }),
  })
  .meta({ id: 'ReceiptResponse' });

type Figures = z.output<z.ZodObject<typeof receiptFigures>>;
type Payment = NonNullable<Awaited<ReturnType<Queries['documentedPayment']>>>;

const numberIn = (tenantId: string, kind: DocumentedKind, ordinal: number): string | null =>
  ordinal === 0 ? null : documentNumber(tenantId, kind, ordinal);

/** The figures of a receipt or note; amounts are never negative, for the document says which way they went. */
const figuresOf = (payment: Payment, kind: DocumentedKind, booked_at: string): Figures => {
  const { ordinal, sale_ordinal, refund_ordinal, invoice_ref: _, corrections: ______, ...facts } = payment;
  const { kind: __, original_grant_id: ___, refund_id: ____, created_at: _____, ...shown } = facts;
  const { tenant_id, position } = payment;
  return {
    number: documentNumber(tenant_id, kind, ordinal),
    document: DOCUMENTS[kind].document,
    corrects: numberIn(tenant_id, 'sale', sale_ordinal),
    undoes: numberIn(tenant_id, 'refund', refund_ordinal),
    booked_at,
    ...shown,
    credits: Math.abs(payment.credits),
    position: String(position),
  };
};

const TITLES: Readonly<Record<Figures['document'], string>> = {
  receipt: 'Receipt',
  credit_note: 'Credit note',
  debit_note: 'Debit note',
};

const LINES: Readonly<Record<Figures['document'], string>> = {
  receipt: 'Credits sold',
  credit_note: 'Credits taken back',
  debit_note: 'Credits given back: the refund was undone',
};

/** An exchange rate as it is printed; null: none is known, or none is needed. */
const rateText = (
  currency: string,
  { fx_rate_to_usd: rate, fx_rate_date: of }: Pick<Figures, 'fx_rate_to_usd' | 'fx_rate_date'>,
): string | null =>
  currency === 'USD' || rate === null ? null : `1 ${currency} = ${rate} USD (${of ?? ''})`;

/** Names with values, those that are known. */
const factsOf = (receipt: Receipt): Paper['facts'] => {
  const { invoice_ref, currency } = receipt;
  const facts: readonly (readonly [string, string | null])[] = [
    ['Account', receipt.tenant_id],
    ['Date (UTC)', timeText(receipt.booked_at)],
    ['Corrects receipt', receipt.corrects],
    ['Undoes note', receipt.undoes],
    ['Invoice', invoice_ref],
    ['Payment', `${receipt.provider} ${receipt.provider_txn_id}`],
    ['Exchange rate', rateText(currency, receipt)],
    ...receipt.corrections.map(
      (told) => [`Exchange rate, booked ${told.booked_at.slice(0, 10)}`, rateText(currency, told)] as const,
    ),
  ];
  return facts.flatMap(([name, value]): Paper['facts'] => (value === null ? [] : [[name, value]]));
};

const vatTitle = ({ tax_rate, tax_country }: Pick<Figures, 'tax_rate' | 'tax_country'>): string => {
  const rate = tax_rate === null ? '' : ` ${tax_rate} %`;
  return `VAT${rate}${tax_country === null ? '' : `, ${tax_country}`}`;
};

const amountRows = (receipt: Receipt): Paper['rows'] => {
  const { currency, credits, bonus_credits, discount_minor, discount_code } = receipt;
  const { gross_amount_minor, net_amount_minor, vat_amount_minor } = receipt;
  const money = (minor: number | null) => (minor === null ? 'not known' : moneyText(minor, currency));
  const row = (...cells: readonly [string, string, string]) => ({ cells });
  const discounted = discount_code === null ? 'Discount, taken off' : `Discount ${discount_code}, taken off`;
  return [
    row(LINES[receipt.document], grouped(credits - bonus_credits), ''),
    ...(bonus_credits > 0 ? [row('Bonus credits, at no price', grouped(bonus_credits), '')] : []),
    ...(discount_minor > 0 ? [row(discounted, '', money(discount_minor))] : []),
    row('Net', '', money(net_amount_minor)),
    row(vatTitle(receipt), '', money(vat_amount_minor)),
    { ...row('Total, with VAT', grouped(credits), money(gross_amount_minor)), isStrong: true },
    ...receipt.corrections
      .filter(({ fx_rate_to_usd }) => fx_rate_to_usd === null)
      .map((told) =>
        row(`${vatTitle(told)}, booked ${told.booked_at.slice(0, 10)}`, '', money(told.vat_amount_minor)),
      ),
  ];
};

type Receipt = Figures &
  Pick<z.output<typeof receiptResponse>, 'corrections' | 'invoice_ref' | 'customer' | 'digest'>;

/** A receipt or note as it is printed. */
const receiptPaper = (receipt: Receipt, seller: readonly string[]): Paper => ({
  title: TITLES[receipt.document],
  number: receipt.number,
  to: addresseeOf(receipt.tenant_id, receipt.customer),
  facts: factsOf(receipt),
  columns: [
    { title: '', share: 60 },
    { title: 'Credits', share: 18, isAmount: true },
    { title: 'Amount', share: 22, isAmount: true },
  ],
  rows: amountRows(receipt),
  notes: [`Log position ${receipt.position} · SHA-256 of the figures ${receipt.digest}`],
  foot: seller,
  dated: receipt.booked_at,
});

/** A header and one line, every member a column. */
const receiptCsv = ({ customer, ...receipt }: Receipt): string => {
  const named = Object.entries(customer).map(([name, value]) => [`customer.${name}`, value] as const);
  const cells = [...Object.entries(receipt), ...named];
  return csvLine(cells.map(([name]) => name)) + csvLine(cells.map(([, value]) => value));
};

const CSV_TYPE = 'text/csv';

export const getReceipt = get(
  '/v1/billing/receipts/{grant_id}',
  {
    summary: 'The receipt of a sale, or the note of a refund or a reversal',
    description:
      'As JSON, CSV or PDF, by `Accept`. A credit note names the receipt that it corrects. The number follows from ' +
      'the log alone and never changes; facts of a sale that become known later (VAT, an invoice, a rate) are shown ' +
      'from then on. VAT and rates that are told after the month was closed are listed as `corrections`, as they are ' +
      'booked in the open month. A tenant’s own key reads its own.',
    access: 'any',
    bucket: 'heavy',
    params: z.object({ grant_id: plainText(1, 128) }),
    reply: { status: 200, schema: receiptResponse, alsoContentTypes: [CSV_TYPE, PDF_TYPE] },
    problems: ['receipt_not_found'],
    reads: 'all',
  },
  async (request, deps) => {
    const { caller, params, prefers, answer } = request;
    const payment = await deps.queries.documentedPayment(params.grant_id);
    const isTheirs = caller.role === 'admin' || payment?.tenant_id === caller.tenant_id;
    if (payment === undefined || !isTheirs || !isDocumented(payment.kind))
      throw problem('receipt_not_found', 'There is no receipt or note of this ID.');
    const { tenant_id, position, created_at } = payment;
    const booked_at = bookedBy(await openingsIn(deps.log), position, created_at);
    const figures = figuresOf(payment, payment.kind, booked_at);
    const { invoice_ref } = await withTexts(deps.log, { invoice_ref: payment.invoice_ref });
    const customer = await customerAt(deps, tenant_id, position);
    const corrections = payment.corrections.map((told) => ({ ...told, position: String(told.position) }));
    const digest = sha256(canonicalJson(figures));
    const receipt = { ...figures, corrections, invoice_ref, customer, digest };
    const { seller } = deps.papers;
    if (prefersPdf(request)) return pdfAnswer(deps, request, receiptPaper(receipt, seller));
    if (prefers(['application/json', CSV_TYPE]) === CSV_TYPE) {
      answer.header('Content-Disposition', `attachment; filename="receipt.csv"`);
      return { contentType: `${CSV_TYPE}; charset=utf-8; header=present`, body: receiptCsv(receipt) };
    }
    return { log_id: deps.logId(), ...receipt, seller: [...seller] };
  },
);
