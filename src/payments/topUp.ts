import Stripe from 'stripe';
import { isProblem, type TopUp } from '../../sdk/src/index.ts';
import { offerOf, pricedNow } from './checkout.ts';
import { PROVIDER, toStripe, UnusablePayment } from './sales.ts';
import { settleIntent, type Sides, tellTopUp, TOP_UP_MARK } from './settling.ts';

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

/** What the service says of a tenant's top-ups at one moment. */
interface Standing {
  /** undefined: nobody agrees now. */
  readonly consent: Consent | undefined;
  /** The balance is below the threshold, of a consent that was taken back too. */
  readonly isLow: boolean;
  /** Who pays, and who paid before. */
  readonly payers: readonly string[];
  /** By the clock of the service: that of this process may be wrong, and then the month or a pause would be too. */
  readonly nowMs: number;
}

const consentIn = (set: TopUp): Consent | undefined => {
  const { threshold_credits: threshold, credits, currency, monthly_credits_max: monthlyMax } = set;
  const { payer, payment_method: method, updated_at } = set;
  if (!set.active || threshold === null || credits === null || currency === null) return undefined;
  if (monthlyMax === null || payer === null || method === null || updated_at === null) return undefined;
  return { threshold, credits, currency, monthlyMax, payer, method, setAt: Date.parse(updated_at) };
};

const DAY_MS = 86_400_000;
/** How far back top-ups are looked at: a month, and more than Stripe remembers an idempotency key. */
const LOOKED_BACK_MS = 35 * DAY_MS;
const LOOKED_AT_MAX = 1_000;

/**
 * Top-ups of a tenant that one payer paid for, the newest first; the last one may be older than is looked back, so that
 * what came before is known however long ago that was.
 */
const topUpsBy = async (
  { stripe }: Sides,
  tenant: string,
  { payer, nowMs }: { readonly payer: string; readonly nowMs: number },
): Promise<readonly Stripe.PaymentIntent[]> => {
  const found: Stripe.PaymentIntent[] = [];
  let looked = 0;
  for await (const intent of stripe.paymentIntents.list({ customer: payer, limit: 100 })) {
    if (intent.metadata[TOP_UP_MARK] === tenant) found.push(intent);
    looked += 1;
    const isLongAgo = intent.created * 1000 < nowMs - LOOKED_BACK_MS;
    if (isLongAgo && (found.length > 0 || looked >= LOOKED_AT_MAX)) return found;
    if (looked > LOOKED_AT_MAX)
      throw new UnusablePayment(
        'too_many_payments',
        `a payer of ${tenant} has too many payments to look through`,
      );
  }
  return found;
};

/** Whether Stripe says that it has no such customer: of this account and mode, that one paid nothing. */
const isUnknown = (error: unknown): boolean =>
  error instanceof Stripe.errors.StripeInvalidRequestError &&
  error.code === 'resource_missing' &&
  error.param === 'customer';

/** Top-ups of a tenant whoever paid, the newest first. A former payer may have been named by mistake. */
const topUpsOf = async (
  sides: Sides,
  tenant: string,
  { payers, nowMs, consent }: Pick<Standing, 'payers' | 'nowMs' | 'consent'>,
): Promise<readonly Stripe.PaymentIntent[]> => {
  const found: Stripe.PaymentIntent[] = [];
  for (const payer of payers)
    try {
      found.push(...(await topUpsBy(sides, tenant, { payer, nowMs })));
    } catch (error) {
      if (payer === consent?.payer || !isUnknown(error)) throw error;
    }
  return found.sort((one, other) => other.created - one.created);
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

/** Declines in a row, the newest first: another consent, or another card, begins afresh. */
const declinesSince = (
  earlier: readonly Stripe.PaymentIntent[],
  { setAt }: Consent,
): readonly Stripe.PaymentIntent[] => {
  const succeeded = earlier.findIndex(({ status }) => !DECLINED.includes(status));
  return (
    earlier
      .slice(0, succeeded === -1 ? undefined : succeeded)
      // Stripe tells whole seconds.
      .filter(({ created }) => (created + 1) * 1000 > setAt)
  );
};

/** When it is tried again after these declines, ms; undefined: not by itself. */
const againAt = ([last, ...others]: readonly Stripe.PaymentIntent[]): number | undefined => {
  const pause = PAUSES_MS[others.length];
  return last === undefined || pause === undefined ? undefined : last.created * 1000 + pause;
};

const afterDeclines = (
  declined: readonly Stripe.PaymentIntent[],
  nowMs: number,
): 'waits' | 'stopped' | undefined => {
  if (declined.length === 0) return undefined;
  const again = againAt(declined);
  if (again === undefined) return 'stopped';
  return nowMs < again ? 'waits' : undefined;
};

const instantOf = (ms: number): string => new Date(ms).toISOString();

/** Codes that the service takes; the provider's are such. */
const CODE = /^[a-z0-9_]{1,64}$/;

const reasonOf = ({ last_payment_error: error }: Stripe.PaymentIntent): string | null => {
  const code = error?.decline_code ?? error?.code ?? '';
  return CODE.test(code) ? code : null;
};

/** Tells of the last decline; told again, nothing changes. */
const tellDecline = async (
  sides: Sides,
  tenant: string,
  declined: readonly Stripe.PaymentIntent[],
): Promise<void> => {
  const [last] = declined;
  if (last === undefined) return;
  const again = againAt(declined);
  await tellTopUp(sides, tenant, {
    outcome: 'declined',
    provider: PROVIDER,
    provider_txn_id: last.id,
    reason: reasonOf(last),
    attempted_at: instantOf(last.created * 1000),
    next_attempt_at: again === undefined ? null : instantOf(again),
  });
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

/** How long a look at the past is good for, ms: far less than Stripe remembers an idempotency key. */
const GOOD_FOR_MS = HOUR_MS;

/** Whether this process stood still since then, or its clock was set, so that others may have charged long ago. */
const isLongSince = (lookedAtMs: number): boolean => {
  const passedMs = Date.now() - lookedAtMs;
  return passedMs < 0 || passedMs > GOOD_FOR_MS;
};

/**
 * Charges once for whatever asks for it at this moment: the key names the top-up that came before, so that all who see
 * the same past ask for the same charge. It is asked for once: the next message looks at the past again.
 */
const charge = async (
  sides: Sides,
  tenant: string,
  {
    consent,
    last,
    lookedAtMs,
    declined,
  }: Pick<Due, 'consent' | 'lookedAtMs'> & {
    readonly last: string;
    readonly declined: readonly Stripe.PaymentIntent[];
  },
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
    metadata: { ...offerOf({ tenant_id: tenant, credits, bonus_credits: 0 }, list), [TOP_UP_MARK]: tenant },
  };
  const idempotencyKey = `quire top-up ${tenant} after ${last}`;
  if (isLongSince(lookedAtMs)) return 'waits';
  try {
    const once = { idempotencyKey, maxNetworkRetries: 0 };
    const intent = await sides.stripe.paymentIntents.create(params, once);
    return (await settleIntent(sides, intent.id)) ? 'charged' : 'waits';
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeCardError)) throw error;
    const { payment_intent: intent } = error;
    if (intent !== undefined) await tellDecline(sides, tenant, [intent, ...declined]);
    return 'declined';
  }
};

/** The month has no room: the next one (UTC) has. */
const tellLimit = (sides: Sides, tenant: string, nowMs: number): Promise<void> => {
  const now = new Date(nowMs);
  const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
  return tellTopUp(sides, tenant, {
    outcome: 'limit',
    attempted_at: instantOf(nowMs),
    next_attempt_at: instantOf(next),
  });
};

/** The code of whoever refuses: Stripe, this process, or the service. */
const codeOf = (error: unknown): string | undefined => {
  if (error instanceof UnusablePayment || isProblem(error)) return error.code;
  return error instanceof Stripe.errors.StripeError ? error.code : undefined;
};

/** Tells that somebody has to look; `error`: why. */
export const tellNeedsPerson = async (sides: Sides, tenant: string, error: unknown): Promise<void> => {
  const code = codeOf(error);
  const { as_of } = await sides.quire.getTopUp({ path: { tenant_id: tenant } });
  const reason = code !== undefined && CODE.test(code) ? code : null;
  await tellTopUp(sides, tenant, { outcome: 'needs_a_person', reason, attempted_at: as_of });
};

interface Due extends Pick<Standing, 'nowMs'> {
  readonly consent: Consent;
  readonly earlier: readonly Stripe.PaymentIntent[];
  /** When that was asked for, ms by the clock of this process. */
  readonly lookedAtMs: number;
}

/** Charges, unless a charge is under way, the month has no room, or the card declined lately. */
const chargeDue = async (
  sides: Sides,
  tenant: string,
  { consent, nowMs, earlier, lookedAtMs }: Due,
): Promise<TopUpOutcome> => {
  if (earlier.some(({ status }) => UNDER_WAY.includes(status))) return 'waits';
  if (boughtThisMonth(earlier, nowMs) + consent.credits > consent.monthlyMax) {
    await tellLimit(sides, tenant, nowMs);
    return 'limit';
  }
  const declined = declinesSince(earlier, consent);
  // Who charged may have died before that was told.
  await tellDecline(sides, tenant, declined);
  const paused = afterDeclines(declined, nowMs);
  if (paused !== undefined) return paused;
  // Of any consent: of two that follow each other, both might ask for the first charge.
  return charge(sides, tenant, { consent, lookedAtMs, declined, last: earlier[0]?.id ?? 'none' });
};

const standingOf = async ({ quire }: Sides, tenant: string): Promise<Standing> => {
  const told = await quire.getTopUp({ path: { tenant_id: tenant } });
  const { payer, former_payers, threshold_credits: threshold, balance_credits: balance, as_of } = told;
  return {
    consent: consentIn(told),
    isLow: threshold !== null && balance < threshold,
    payers: [...new Set([...(payer === null ? [] : [payer]), ...former_payers])].sort(),
    nowMs: Date.parse(as_of),
  };
};

/**
 * Buys credits for a tenant whose balance is below the threshold of its consent. What was bought before is read from
 * Stripe, what is there from the service: nothing is remembered here, and a message that comes twice buys once. What
 * was paid by a consent that was taken back since is booked too.
 */
export const topUp = async (sides: Sides, tenant: string): Promise<TopUpOutcome> => {
  const before = await standingOf(sides, tenant);
  if (!before.isLow) return 'not_due';
  const lookedAtMs = Date.now();
  const earlier = await topUpsOf(sides, tenant, before);
  const settled = await settleUnbooked(sides, earlier);
  // Another may have charged since, and its charge may be booked: what is listed is in the balance that is read now.
  const { consent, isLow, nowMs } = await standingOf(sides, tenant);
  if (consent === undefined || !isLow) return settled ? 'charged' : 'not_due';
  if (consent.setAt !== before.consent?.setAt) return 'waits';
  return chargeDue(sides, tenant, { consent, nowMs, earlier, lookedAtMs });
};
