import Stripe from 'stripe';
import { isProblem, type TopUp } from '../../sdk/src/index.ts';
import { offerOf, pricedNow } from './checkout.ts';
import { PROVIDER, toStripe } from './sales.ts';
import { settleIntent, type Sides } from './settling.ts';

/**
 * `not_due`: the balance is not low, or nobody agreed. `limit`: the month has no room. `waits`: a charge is under way,
 * or the card declined lately. `stopped`: it declined too often.
 */
export type TopUpOutcome = 'not_due' | 'charged' | 'limit' | 'waits' | 'declined' | 'stopped';

/** A consent that is in force. */
interface Consent {
  readonly threshold: number;
  readonly credits: number;
  readonly currency: string;
  readonly monthlyMax: number;
  readonly payer: string;
  readonly method: string;
  readonly setAt: number;
}

const consentIn = (set: TopUp): Consent | undefined => {
  const { threshold_credits: threshold, credits, currency, monthly_credits_max: monthlyMax } = set;
  const { payer, payment_method: method, updated_at } = set;
  if (!set.active || threshold === null || credits === null || currency === null) return undefined;
  if (monthlyMax === null || payer === null || method === null || updated_at === null) return undefined;
  return { threshold, credits, currency, monthlyMax, payer, method, setAt: Date.parse(updated_at) };
};

/** Names the tenant in the metadata of a top-up. */
const MARK = 'quire_top_up';

const DAY_MS = 86_400_000;
/** How far back top-ups are looked at: a month, and more than Stripe remembers an idempotency key. */
const LOOKED_BACK_MS = 35 * DAY_MS;
const LOOKED_AT_MAX = 1_000;

/** Top-ups of a tenant, the newest first. */
const topUpsOf = async (
  { stripe }: Sides,
  tenant: string,
  { payer, nowMs }: { readonly payer: string; readonly nowMs: number },
): Promise<readonly Stripe.PaymentIntent[]> => {
  const created = { gte: Math.floor((nowMs - LOOKED_BACK_MS) / 1000) };
  const listed = stripe.paymentIntents.list({ customer: payer, created, limit: 100 });
  const all = await listed.autoPagingToArray({ limit: LOOKED_AT_MAX });
  return all.filter(({ metadata }) => metadata[MARK] === tenant);
};

const creditsOf = ({ metadata }: Stripe.PaymentIntent): number => Number(metadata['quire_credits'] ?? 0);

/** Statuses of a charge that may still succeed by itself, and of one that will not. */
const UNDER_WAY: readonly string[] = ['processing', 'requires_capture'];
const DECLINED: readonly string[] = [
  'requires_payment_method',
  'requires_action',
  'requires_confirmation',
  'canceled',
];

/** Pauses after so many declines in a row, ms; after the last one somebody has to look. */
const HOUR_MS = 3_600_000;
const PAUSES_MS = [HOUR_MS, 6 * HOUR_MS, DAY_MS];

/** What the last declines say: another consent, or another card, begins afresh. */
const afterDeclines = (
  earlier: readonly Stripe.PaymentIntent[],
  { setAt }: Consent,
  nowMs: number,
): 'waits' | 'stopped' | undefined => {
  const succeeded = earlier.findIndex(({ status }) => !DECLINED.includes(status));
  const declined = earlier
    .slice(0, succeeded === -1 ? undefined : succeeded)
    // Stripe tells whole seconds.
    .filter(({ created }) => (created + 1) * 1000 > setAt);
  const [last] = declined;
  if (last === undefined) return undefined;
  const pause = PAUSES_MS[declined.length - 1];
  if (pause === undefined) return 'stopped';
  return nowMs < last.created * 1000 + pause ? 'waits' : undefined;
};

/** Credits that top-ups bought, or are about to, since the month began (UTC). */
const boughtThisMonth = (earlier: readonly Stripe.PaymentIntent[], nowMs: number): number => {
  const now = new Date(nowMs);
  const began = Date.UTC(now.getUTCFullYear(), now.getUTCMonth()) / 1000;
  return earlier
    .filter(({ created, status }) => created >= began && !DECLINED.includes(status))
    .reduce((sum, intent) => sum + creditsOf(intent), 0);
};

/** Books top-ups that are paid and not in the books yet; whether there were any. */
const settleUnbooked = async (sides: Sides, earlier: readonly Stripe.PaymentIntent[]): Promise<boolean> => {
  // An older one was booked before the one after it was charged.
  const last = earlier.find(({ status }) => status === 'succeeded');
  if (last === undefined) return false;
  try {
    await sides.quire.getPayment({ path: { provider: PROVIDER, provider_txn_id: last.id } });
    return false;
  } catch (error) {
    if (!isProblem(error, 'payment_not_found')) throw error;
    return settleIntent(sides, last.id);
  }
};

/**
 * Charges once for whatever asks for it at this moment: the key names the top-up that came before, so that all who see
 * the same past ask for the same charge.
 */
const charge = async (
  sides: Sides,
  tenant: string,
  { consent, last }: { readonly consent: Consent; readonly last: string },
): Promise<TopUpOutcome> => {
  const { credits, currency, payer, method } = consent;
  const { list, minor } = await pricedNow(sides, { credits, currency });
  const params = {
    amount: toStripe(minor, currency),
    currency: currency.toLowerCase(),
    customer: payer,
    payment_method: method,
    confirm: true,
    off_session: true,
    description: `${credits.toLocaleString('en-US')} credits`,
    metadata: { ...offerOf({ tenant_id: tenant, credits, bonus_credits: 0 }, list), [MARK]: tenant },
  };
  const idempotencyKey = `quire top-up ${tenant} after ${last}`;
  try {
    const intent = await sides.stripe.paymentIntents.create(params, { idempotencyKey });
    return (await settleIntent(sides, intent.id)) ? 'charged' : 'waits';
  } catch (error) {
    if (error instanceof Stripe.errors.StripeCardError) return 'declined';
    throw error;
  }
};

interface Due {
  readonly consent: Consent;
  readonly earlier: readonly Stripe.PaymentIntent[];
  readonly nowMs: number;
}

/** Charges, unless a charge is under way, the month has no room, or the card declined lately. */
const chargeDue = async (
  sides: Sides,
  tenant: string,
  { consent, earlier, nowMs }: Due,
): Promise<TopUpOutcome> => {
  if (earlier.some(({ status }) => UNDER_WAY.includes(status))) return 'waits';
  if (boughtThisMonth(earlier, nowMs) + consent.credits > consent.monthlyMax) return 'limit';
  const declined = afterDeclines(earlier, consent, nowMs);
  if (declined !== undefined) return declined;
  return charge(sides, tenant, { consent, last: earlier[0]?.id ?? `none ${String(consent.setAt)}` });
};

/**
 * Buys credits for a tenant whose balance is below the threshold of its consent. What was bought before is read from
 * Stripe, what is there from the service: nothing is remembered here, and a message that comes twice buys once.
 */
export const topUp = async (sides: Sides, tenant: string, nowMs: number): Promise<TopUpOutcome> => {
  const asked = { path: { tenant_id: tenant } };
  const before = await sides.quire.getTopUp(asked);
  const consent = consentIn(before);
  if (consent === undefined || before.balance_credits >= consent.threshold) return 'not_due';
  const earlier = await topUpsOf(sides, tenant, { payer: consent.payer, nowMs });
  const settled = await settleUnbooked(sides, earlier);
  // Another may have charged since, and its charge may be booked: what is listed is in the balance that is read now.
  const now = await sides.quire.getTopUp(asked);
  const agreed = consentIn(now);
  if (agreed === undefined) return 'not_due';
  if (agreed.setAt !== consent.setAt) return 'waits';
  if (now.balance_credits >= consent.threshold) return settled ? 'charged' : 'not_due';
  return chargeDue(sides, tenant, { consent, earlier, nowMs });
};
