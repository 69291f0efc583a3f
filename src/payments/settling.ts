import type Stripe from 'stripe';
import { type Api, isProblem, type NamedPayment } from '../../sdk/src/index.ts';
import {
  feeInCurrencyOf,
  idOf,
  intentsOf,
  PROVIDER,
  type Sale,
  saleOfIntent,
  saleOfInvoice,
  saleOfSession,
  toBooks,
} from './sales.ts';

/** The payment provider, and the service with the books. */
export interface Sides {
  readonly stripe: Stripe;
  readonly quire: Pick<
    Api,
    | 'addCredits'
    | 'getCreditPrices'
    | 'getPayment'
    | 'getTopUp'
    | 'recordDispute'
    | 'refundCredits'
    | 'reverseRefund'
    | 'tellTopUp'
  >;
}

/** A payment as the books have it; undefined: they do not. */
const bookedAs = async ({ quire }: Sides, id: string): Promise<NamedPayment | undefined> => {
  try {
    return await quire.getPayment({ path: { provider: PROVIDER, provider_txn_id: id } });
  } catch (error) {
    if (isProblem(error, 'payment_not_found')) return undefined;
    throw error;
  }
};

/** The sale of the books as it is told again. */
const asBooked = (booked: NamedPayment): Sale | undefined =>
  booked.kind !== 'sale' || booked.gross_amount_minor === null
    ? undefined
    : {
        tenant_id: booked.tenant_id,
        provider: PROVIDER,
        provider_txn_id: booked.provider_txn_id,
        credits: booked.credits - booked.bonus_credits,
        bonus_credits: booked.bonus_credits,
        currency: booked.currency,
        gross_amount_minor: booked.gross_amount_minor,
        discount_minor: booked.discount_minor,
      };

/** What was paid with an intent; `isWhole`: it is the only payment of its sale. */
interface Found {
  readonly sale: Sale;
  readonly isWhole: boolean;
}

const whole = (sale: Sale | undefined): Found | undefined => sale && { sale, isWhole: true };

/** An invoice with its payments. */
const invoiceAt = ({ stripe }: Sides, id: string): Promise<Stripe.Invoice> =>
  stripe.invoices.retrieve(id, { expand: ['payments'] });

const invoiceOf = async (sides: Sides, intentId: string): Promise<Stripe.Invoice | undefined> => {
  const payment = { type: 'payment_intent', payment_intent: intentId };
  const { data } = await sides.stripe.invoicePayments.list({ payment, limit: 1 });
  const id = idOf(data[0]?.invoice);
  return id === undefined ? undefined : invoiceAt(sides, id);
};

/**
 * The sale that an intent paid, whatever tells of it: of a checkout page, an invoice, or the intent itself. Always
 * looked for in this order, so that all who tell of one payment tell one sale. A sale that somebody else recorded is
 * the one of the books. undefined: it is none of credits, or it is not paid.
 */
const saleFor = async (sides: Sides, intent: Stripe.PaymentIntent): Promise<Found | undefined> => {
  const { data } = await sides.stripe.checkout.sessions.list({ payment_intent: intent.id, limit: 1 });
  const [session] = data;
  if (session?.metadata?.['quire_tenant_id'] !== undefined) return whole(saleOfSession(session));
  const invoice = session === undefined ? await invoiceOf(sides, intent.id) : undefined;
  const invoiced = invoice && saleOfInvoice(invoice);
  if (invoice && invoiced) return { sale: invoiced, isWhole: intentsOf(invoice).length === 1 };
  const own = saleOfIntent(intent);
  if (own !== undefined) return whole(own);
  const booked = await bookedAs(sides, intent.id);
  return whole(booked && asBooked(booked));
};

/** The fee of a charge in minor units of its currency; undefined: Stripe does not know it yet, or there is none. */
const feeOf = (charge: Stripe.Charge): number | undefined => {
  const settled = charge.balance_transaction;
  if (settled === null || typeof settled === 'string') return undefined;
  const fee = feeInCurrencyOf(charge, settled);
  return fee > 0 && fee <= toBooks(charge.amount, charge.currency.toUpperCase()) ? fee : undefined;
};

/** Refunds that took money, or did so until they failed. Others wait for the customer, and move nothing. */
const BOOKED_REFUNDS: readonly (string | null)[] = ['pending', 'succeeded', 'failed', 'canceled'];
const UNDONE_REFUNDS: readonly (string | null)[] = ['failed', 'canceled'];

const refundBody = (sale: Sale, refund: Stripe.Refund, credits?: number) => ({
  tenant_id: sale.tenant_id,
  provider: PROVIDER,
  provider_txn_id: refund.id,
  original_provider_txn_id: sale.provider_txn_id,
  currency: sale.currency,
  gross_amount_minor: toBooks(refund.amount, sale.currency),
  ...(credits !== undefined && { credits }),
  occurred_at: new Date(refund.created * 1000).toISOString(),
});

/** The customer's money went back, and some of the credits are used: those that are there are taken. */
const refundWhatIsThere = async ({ quire }: Sides, sale: Sale, refund: Stripe.Refund): Promise<string> => {
  try {
    return (await quire.refundCredits({ body: refundBody(sale, refund) })).refund_id;
  } catch (error) {
    if (!isProblem(error, 'insufficient_balance')) throw error;
    const most = (error.problem as { readonly max_refundable_credits?: unknown }).max_refundable_credits;
    if (typeof most !== 'number') throw error;
    return (await quire.refundCredits({ body: refundBody(sale, refund, most) })).refund_id;
  }
};

/** The refund in the books, booked now if it is not; undefined: nothing is left to book of one that failed. */
const refundBooked = async (sides: Sides, sale: Sale, refund: Stripe.Refund): Promise<string | undefined> => {
  const booked = await bookedAs(sides, refund.id);
  if (booked !== undefined) return booked.grant_id;
  try {
    return await refundWhatIsThere(sides, sale, refund);
  } catch (error) {
    // Another delivery may have booked it at this moment, with the credits that were there then.
    const meanwhile = isProblem(error, 'idempotency_key_reused') && (await bookedAs(sides, refund.id));
    if (meanwhile) return meanwhile.grant_id;
    const isUndone = UNDONE_REFUNDS.includes(refund.status);
    if (isUndone && isProblem(error, 'refund_exceeds_original')) return undefined;
    throw error;
  }
};

/** One that failed is booked and undone, for another delivery may book it as it was before. */
const settleRefund = async (sides: Sides, sale: Sale, refund: Stripe.Refund): Promise<void> => {
  if (!BOOKED_REFUNDS.includes(refund.status)) return;
  const refund_id = await refundBooked(sides, sale, refund);
  if (refund_id === undefined || !UNDONE_REFUNDS.includes(refund.status)) return;
  const body = { provider_txn_id: `${refund.id}_failed`, reason: `the refund ${String(refund.status)}` };
  await sides.quire.reverseRefund({ path: { refund_id }, body });
};

const DISPUTES: Readonly<Record<string, 'opened' | 'won' | 'lost'>> = {
  needs_response: 'opened',
  under_review: 'opened',
  won: 'won',
  lost: 'lost',
};

/** The fee of a dispute: what was kept when its money was taken. */
const disputeFee = ({ amount, currency, balance_transactions }: Stripe.Dispute): number =>
  balance_transactions
    .filter((settled) => settled.amount < 0)
    .reduce((total, settled) => total + feeInCurrencyOf({ amount, currency }, settled), 0);

/** Inquiries move no money: they are none of these. */
const settleDispute = async ({ quire }: Sides, sale: Sale, dispute: Stripe.Dispute): Promise<void> => {
  const status = DISPUTES[dispute.status];
  if (status === undefined) return;
  const fee = disputeFee(dispute);
  const body = {
    provider: PROVIDER,
    provider_txn_id: dispute.id,
    original_provider_txn_id: sale.provider_txn_id,
    status,
    gross_amount_minor: toBooks(dispute.amount, sale.currency),
  };
  try {
    await quire.recordDispute({ body: { ...body, ...(fee > 0 && { fee_minor: fee }) } });
  } catch (error) {
    // A second fee of a dispute that was opened again: the books have the first, and its end is told all the same.
    if (fee === 0 || !isProblem(error, 'idempotency_key_reused')) throw error;
    await quire.recordDispute({ body });
  }
};

/** Refunds and disputes of an intent that are looked at, each. */
const LOOKED_AT_MAX = 1_000;

const settleReturns = async (sides: Sides, sale: Sale, intentId: string): Promise<void> => {
  const { refunds, disputes } = sides.stripe;
  const of = { payment_intent: intentId, limit: 100 };
  const paged = { limit: LOOKED_AT_MAX };
  const returned = await refunds.list(of).autoPagingToArray(paged);
  // The newest come first, and are booked last.
  for (const refund of returned.reverse()) await settleRefund(sides, sale, refund);
  for (const dispute of await disputes.list(of).autoPagingToArray(paged))
    await settleDispute(sides, sale, dispute);
};

/** Names the tenant in the metadata of a top-up. */
export const TOP_UP_MARK = 'quire_top_up';

type Told = Parameters<Api['tellTopUp']>[0]['body'];

/** Tells the service what became of a top-up. A tenant that nobody consented for has none, whatever a payment says. */
export const tellTopUp = async ({ quire }: Sides, tenant_id: string, body: Told): Promise<void> => {
  try {
    await quire.tellTopUp({ path: { tenant_id }, body });
  } catch (error) {
    if (!isProblem(error, 'validation_error', 'tenant_not_found')) throw error;
  }
};

/** A top-up that is booked: whatever charged it may have died before it told. */
const tellCharged = async (sides: Sides, intent: Stripe.PaymentIntent): Promise<void> => {
  const tenant = intent.metadata[TOP_UP_MARK];
  if (tenant === undefined) return;
  await tellTopUp(sides, tenant, {
    outcome: 'charged',
    provider: PROVIDER,
    provider_txn_id: intent.id,
    attempted_at: new Date(intent.created * 1000).toISOString(),
  });
};

/**
 * Brings the books to where a payment is now: its sale, its fee, its refunds and disputes. Whatever was told of the
 * payment before, in which order and how often, the books are the same afterwards. False: it is none of credits, or
 * it is not paid.
 */
export const settleIntent = async (sides: Sides, intentId: string): Promise<boolean> => {
  const expand = ['latest_charge.balance_transaction'];
  const intent = await sides.stripe.paymentIntents.retrieve(intentId, { expand });
  const found = await saleFor(sides, intent);
  if (found === undefined) return false;
  const { sale, isWhole } = found;
  const charge = intent.latest_charge;
  const fee = isWhole && charge !== null && typeof charge !== 'string' ? feeOf(charge) : undefined;
  await sides.quire.addCredits({ body: { ...sale, ...(fee !== undefined && { provider_fee_minor: fee }) } });
  await settleReturns(sides, sale, intentId);
  await tellCharged(sides, intent);
  return true;
};

/** The same for a checkout page; one of which all was taken off has no payment. */
export const settleSession = async (sides: Sides, sessionId: string): Promise<boolean> => {
  const session = await sides.stripe.checkout.sessions.retrieve(sessionId);
  const intentId = idOf(session.payment_intent);
  if (intentId !== undefined) return settleIntent(sides, intentId);
  const sale = saleOfSession(session);
  if (sale !== undefined) await sides.quire.addCredits({ body: sale });
  return sale !== undefined;
};

/** The same for an invoice; one that was paid elsewhere has no payment. */
export const settleInvoice = async (sides: Sides, invoiceId: string): Promise<boolean> => {
  const invoice = await invoiceAt(sides, invoiceId);
  const intents = intentsOf(invoice);
  if (intents.length > 0) {
    const settled: boolean[] = [];
    for (const intent of intents) settled.push(await settleIntent(sides, intent));
    return settled.includes(true);
  }
  const sale = saleOfInvoice(invoice);
  if (sale !== undefined) await sides.quire.addCredits({ body: sale });
  return sale !== undefined;
};

/** A charge, refund or dispute: each names its payment. One of the time before payment intents has none. */
export const settleNamed = async (
  sides: Sides,
  named: { readonly payment_intent?: string | { readonly id: string } | null | undefined },
): Promise<boolean> => {
  const id = idOf(named.payment_intent);
  return id !== undefined && settleIntent(sides, id);
};

/** The payment that a row of a payout is; undefined: it is none, as a fee or a refund. */
const intentSettledBy = ({ source }: Stripe.BalanceTransaction): string | undefined =>
  source === null || typeof source === 'string' || source.object !== 'charge'
    ? undefined
    : idOf(source.payment_intent);

const tellPayout = async (
  sides: Sides,
  settled: Stripe.BalanceTransaction,
  payout: string,
): Promise<void> => {
  const id = intentSettledBy(settled);
  if (id === undefined) return;
  let booked = await bookedAs(sides, id);
  if (booked === undefined && (await settleIntent(sides, id))) booked = await bookedAs(sides, id);
  if (booked?.payout_id === payout) return;
  const sale = booked && asBooked(booked);
  if (sale !== undefined) await sides.quire.addCredits({ body: { ...sale, payout_id: payout } });
};

/** Payments of a payout that are told at once. */
const AT_ONCE = 8;

/** Tells the sales of a payout that they are in it. */
export const settlePayout = async (sides: Sides, payout: string): Promise<boolean> => {
  const listed = sides.stripe.balanceTransactions.list({ payout, expand: ['data.source'], limit: 100 });
  let next: Stripe.BalanceTransaction[] = [];
  const tellAll = async () => {
    await Promise.all(next.map((settled) => tellPayout(sides, settled, payout)));
    next = [];
  };
  for await (const settled of listed) {
    next.push(settled);
    if (next.length === AT_ONCE) await tellAll();
  }
  await tellAll();
  return true;
};
