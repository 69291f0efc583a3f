import type Stripe from 'stripe';
import { z } from 'zod';
import type { AddCreditsRequest } from '../../sdk/src/index.ts';
import { divideHalfEven, minorUnitDigits } from '../../domain/kernel/amounts.ts';

/** The provider's name in the books. */
export const PROVIDER = 'stripe';

/** A payment that the books cannot take as it is; somebody has to look at it. */
export class UnusablePayment extends Error {
  override readonly name = 'UnusablePayment';
  /** Tells its kind from others. */
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Digits of Stripe's minor units where they are not those of ISO 4217. */
const STRIPE_DIGITS: Readonly<Record<string, number>> = { ISK: 2, UGX: 2, MGA: 0 };

/** Powers of ten between Stripe's minor units and those of the books; above 0: Stripe's are smaller. */
const shiftOf = (currency: string): number => {
  const digits = minorUnitDigits(currency);
  if (digits === undefined)
    throw new UnusablePayment('unknown_currency', `${currency} is not a currency of ISO 4217`);
  return (STRIPE_DIGITS[currency] ?? digits) - digits;
};

/** An amount of Stripe's in the minor units of the books, half-even where Stripe has more digits. */
export const toBooks = (amount: number, currency: string): number => {
  const shift = shiftOf(currency);
  return shift <= 0 ? amount * 10 ** -shift : Number(divideHalfEven(BigInt(amount), 10n ** BigInt(shift)));
};

/** In what steps Stripe charges, in minor units of the books: of three decimals the last one is 0. */
const stepOf = (currency: string): number => {
  const shift = shiftOf(currency);
  if (shift < 0) return 10 ** -shift;
  return minorUnitDigits(currency) === 3 ? 10 : 1;
};

/** A price of the books in Stripe's minor units. Throws UnusablePayment for one that Stripe cannot charge exactly. */
export const toStripe = (amount: number, currency: string): number => {
  const step = stepOf(currency);
  if (amount % step !== 0)
    throw new UnusablePayment(
      'price_not_chargeable',
      `Stripe charges ${currency} in steps of ${String(step)} minor units, and the price is ${String(amount)}: ` +
        'change the number of credits or the price list',
    );
  const shift = shiftOf(currency);
  return shift >= 0 ? amount * 10 ** shift : amount / 10 ** -shift;
};

/** A fee in the currency of the payment: Stripe keeps it in that of the account, at the rate of the payment. */
export const feeInCurrencyOf = (
  paid: { readonly amount: number; readonly currency: string },
  settled: Pick<Stripe.BalanceTransaction, 'amount' | 'currency' | 'fee'>,
): number => {
  const currency = paid.currency.toUpperCase();
  if (settled.currency === paid.currency || settled.amount === 0) return toBooks(settled.fee, currency);
  const whole = BigInt(Math.abs(settled.amount));
  return toBooks(Number(divideHalfEven(BigInt(settled.fee) * BigInt(paid.amount), whole)), currency);
};

const count = z
  .string()
  .regex(/^\d{1,13}$/)
  .transform(Number);

/** What is sold, as checkout pages, invoices and top-ups carry it in their metadata. */
const offer = z.object({
  quire_tenant_id: z.string().min(1),
  quire_credits: count,
  quire_bonus_credits: count.optional(),
  quire_price_list_version: count.optional(),
  quire_discount_code: z.string().optional(),
});

/** A sale as the service is told it; fee and payout may become known later. */
export type Sale = AddCreditsRequest & {
  readonly currency: string;
  readonly gross_amount_minor: number;
};

/** What was paid, in Stripe's minor units; `at`: seconds since 1970. */
interface Paid {
  readonly id: string;
  readonly currency: string | null;
  readonly total: number;
  readonly tax: number;
  readonly discount: number;
  readonly at: number;
  readonly invoice_ref?: string | undefined;
}

const sum = (amounts: readonly { readonly amount: number }[] | null | undefined): number =>
  (amounts ?? []).reduce((total, { amount }) => total + amount, 0);

/** undefined: it is no sale of credits, or nothing was paid and nothing taken off. */
const saleOf = (metadata: Stripe.Metadata | null | undefined, paid: Paid): Sale | undefined => {
  if (metadata?.['quire_tenant_id'] === undefined || paid.total + paid.discount === 0) return undefined;
  const { data, error } = offer.safeParse(metadata);
  if (data === undefined)
    throw new UnusablePayment('metadata_mismatch', `its metadata do not fit: ${z.prettifyError(error)}`);
  const currency = (paid.currency ?? '').toUpperCase();
  const { quire_discount_code: code, quire_price_list_version: version } = data;
  return {
    tenant_id: data.quire_tenant_id,
    provider: PROVIDER,
    provider_txn_id: paid.id,
    currency,
    credits: data.quire_credits,
    bonus_credits: data.quire_bonus_credits ?? 0,
    gross_amount_minor: toBooks(paid.total, currency),
    vat_amount_minor: toBooks(paid.tax, currency),
    discount_minor: toBooks(paid.discount, currency),
    ...(code !== undefined && { discount_code: code }),
    ...(version !== undefined && { price_list_version: version }),
    ...(paid.invoice_ref !== undefined && { invoice_ref: paid.invoice_ref }),
    occurred_at: new Date(paid.at * 1000).toISOString(),
  };
};

/** The ID of what Stripe names, or has in full. */
export const idOf = (named: string | { readonly id: string } | null | undefined): string | undefined =>
  typeof named === 'string' ? named : named?.id;

/** The sale of a checkout page; undefined: it is none, or it is not paid. */
export const saleOfSession = (session: Stripe.Checkout.Session): Sale | undefined => {
  const isFree = session.payment_status === 'no_payment_required' && session.status === 'complete';
  if (session.payment_status !== 'paid' && !isFree) return undefined;
  return saleOf(session.metadata, {
    id: idOf(session.payment_intent) ?? session.id,
    currency: session.currency,
    total: session.amount_total ?? 0,
    at: session.created,
    tax: session.total_details?.amount_tax ?? 0,
    discount: session.total_details?.amount_discount ?? 0,
  });
};

/** Payment intents of an invoice that were paid, the first one first. */
export const intentsOf = ({ payments }: Stripe.Invoice): readonly string[] =>
  (payments?.data ?? [])
    .filter(({ status }) => status === 'paid')
    .sort((one, other) => one.created - other.created)
    .flatMap(({ payment }) => idOf(payment.payment_intent) ?? []);

/** The sale of an invoice, under its first payment; undefined: it is none, or it is not paid. */
export const saleOfInvoice = (invoice: Stripe.Invoice): Sale | undefined => {
  if (invoice.status !== 'paid') return undefined;
  const own = invoice.metadata?.['quire_tenant_id'] === undefined ? undefined : invoice.metadata;
  return saleOf(own ?? invoice.parent?.subscription_details?.metadata, {
    id: intentsOf(invoice)[0] ?? invoice.id,
    currency: invoice.currency,
    total: invoice.total,
    at: invoice.created,
    tax: sum(invoice.total_taxes),
    discount: sum(invoice.total_discount_amounts),
    invoice_ref: invoice.number ?? invoice.id,
  });
};

/** The sale of a payment without a page, as a top-up is; undefined: it is none, or it did not succeed. */
export const saleOfIntent = (intent: Stripe.PaymentIntent): Sale | undefined =>
  intent.status !== 'succeeded'
    ? undefined
    : saleOf(intent.metadata, {
        id: intent.id,
        currency: intent.currency,
        total: intent.amount_received,
        at: intent.created,
        tax: 0,
        discount: 0,
      });
