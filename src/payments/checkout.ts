import { z } from 'zod';
import type Stripe from 'stripe';
import { listAmount } from '../../domain/priceList.ts';
import type { CreditPriceListResponse } from '../../sdk/src/index.ts';
import type { Sides } from './settling.ts';
import { toStripe, UnusablePayment } from './sales.ts';

type Metadata = Readonly<Record<string, string>>;

const address = z.url({ protocol: /^https?$/ }).max(2_000);

const creditsAtMost = (least: number) => z.int().min(least).max(1_000_000_000_000);

/** What a shop asks of a checkout page. */
export const checkoutRequest = z.strictObject({
  tenant_id: z.string().min(1).max(128),
  credits: creditsAtMost(1),
  /** Given on top, at no price. */
  bonus_credits: creditsAtMost(0).default(0),
  currency: z.string().regex(/^[A-Z]{3}$/),
  /** A coupon that Stripe has; what it takes off is the discount of the sale. */
  coupon: z.string().min(1).max(100).optional(),
  /** A customer that Stripe has. */
  customer: z.string().min(1).max(255).optional(),
  /** Keeps the card for top-ups of this customer; the page says so to the payer. */
  keep_card: z.boolean().default(false),
  success_url: address,
  cancel_url: address,
});

type CheckoutRequest = z.output<typeof checkoutRequest>;

/** How the process makes pages. */
export interface CheckoutSettings {
  /** Stripe computes the VAT of each page. */
  readonly automaticTax: boolean;
}

/** How long a page can be paid, seconds: its price is in force all the time, for a list holds a day longer. */
const OPEN_SECONDS = 3_600;

/** The entry of the price list that a page is for. */
const entryIn = (list: CreditPriceListResponse, { currency }: Pick<CheckoutRequest, 'currency'>) => {
  const entry = list.entries.find((one) => one.currency === currency);
  if (entry === undefined)
    throw new UnusablePayment('currency_not_offered', `the price list has no price in ${currency}`);
  return entry;
};

/** What a payment says of the credits that it buys. */
export const offerOf = (
  asked: { readonly tenant_id: string; readonly credits: number; readonly bonus_credits: number },
  { version }: Pick<CreditPriceListResponse, 'version'>,
): Metadata => ({
  quire_tenant_id: asked.tenant_id,
  quire_credits: String(asked.credits),
  quire_price_list_version: String(version),
  ...(asked.bonus_credits > 0 && { quire_bonus_credits: String(asked.bonus_credits) }),
});

/** What credits cost by the list that is in force. */
export const pricedNow = async (
  { quire }: Sides,
  asked: Pick<CheckoutRequest, 'currency' | 'credits'>,
): Promise<{ readonly list: CreditPriceListResponse; readonly minor: number; readonly taxBasis: string }> => {
  const list = await quire.getCreditPrices();
  const entry = entryIn(list, asked);
  return { list, minor: listAmount(asked.credits, entry), taxBasis: entry.tax_basis };
};

const linesOf = (
  { credits, bonus_credits: bonus, currency }: CheckoutRequest,
  { minor, taxBasis }: { readonly minor: number; readonly taxBasis: string },
): Stripe.Checkout.SessionCreateParams.LineItem[] => [
  {
    quantity: 1,
    price_data: {
      currency: currency.toLowerCase(),
      unit_amount: toStripe(minor, currency),
      tax_behavior: taxBasis === 'inclusive' ? 'inclusive' : 'exclusive',
      product_data: {
        name: `${credits.toLocaleString('en-US')} credits`,
        ...(bonus > 0 && { description: `and ${bonus.toLocaleString('en-US')} as a bonus` }),
      },
    },
  },
];

const payerOf = ({ customer, keep_card }: CheckoutRequest) => {
  if (customer !== undefined) return { customer };
  return keep_card ? { customer_creation: 'always' as const } : {};
};

const metadataOf = (asked: CheckoutRequest, list: CreditPriceListResponse): Metadata => ({
  ...offerOf(asked, list),
  ...(asked.coupon !== undefined && { quire_discount_code: asked.coupon }),
});

/**
 * Makes a page where credits are paid. A shop that sends its request again with the same `idempotencyKey` gets the same
 * page, within the same minute and price list.
 */
export const checkoutPage = async (
  sides: Sides,
  asked: CheckoutRequest,
  {
    automaticTax,
    nowMs,
    idempotencyKey,
  }: CheckoutSettings & { readonly nowMs: number; readonly idempotencyKey: string | undefined },
) => {
  const priced = await pricedNow(sides, asked);
  const { success_url, cancel_url, coupon } = asked;
  const session = await sides.stripe.checkout.sessions.create(
    {
      mode: 'payment',
      line_items: linesOf(asked, priced),
      success_url,
      cancel_url,
      metadata: metadataOf(asked, priced.list),
      ...payerOf(asked),
      ...(coupon !== undefined && { discounts: [{ coupon }] }),
      ...(asked.keep_card && { payment_intent_data: { setup_future_usage: 'off_session' } }),
      ...(automaticTax && { automatic_tax: { enabled: true } }),
      // The price is that of the list, in its currency.
      adaptive_pricing: { enabled: false },
      // In whole minutes: a request that is sent again within one is the same request.
      expires_at: Math.floor(nowMs / 60_000) * 60 + OPEN_SECONDS,
    },
    idempotencyKey === undefined ? {} : { idempotencyKey },
  );
  return {
    session_id: session.id,
    url: session.url,
    currency: asked.currency,
    amount_minor: priced.minor,
    expires_at: new Date(session.expires_at * 1000).toISOString(),
  };
};
