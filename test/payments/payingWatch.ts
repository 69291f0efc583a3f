import type { AccountEventOf } from '../../domain/account/messages.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import type { StripeDouble } from './stripeDouble.ts';

/** Below so many credits the balance is low. */
export const THRESHOLD = 1_000;

/** By so much the service's clock may be off where a month begins, and so long a look may be on its way, ms. */
const SKEW_MS = 40 * 60_000;

type Granted = AccountEventOf<'CreditsGranted'>['data'];
type Intent = StripeDouble['intents'] extends Map<string, infer One> ? One : never;

/** A consent as the log has it. */
interface Consent {
  readonly active: boolean;
  readonly payer: string;
  readonly credits: number;
  readonly monthly_credits_max: number;
  /** When it was replaced, ms since 1970; Infinity: it stands. */
  until: number;
}

interface WatchDeps {
  readonly stripe: StripeDouble;
  readonly say: (id: string, text: string) => void;
  /** The right time, ms since 1970. */
  readonly nowMs: () => number;
}

const creditsOf = ({ metadata }: Intent): number => Number(metadata['quire_credits']);
const isDeclined = ({ status }: Intent): boolean => status === 'requires_payment_method';

/**
 * Looks at each charge as it is made, and at what is left in the end: one charge a crossing, by a consent that stands,
 * within the month, and each of them one sale.
 */
export const payingWatch = ({ stripe, say, nowMs }: WatchDeps) => {
  const consents: Consent[] = [];
  /** Their names at Stripe. */
  const sales = new Set<string>();
  let balance = 0;
  /** The least balance since the last top-up was booked. */
  let least = Infinity;
  const all = (): readonly Intent[] => [...stripe.intents.values()];

  const booked = ({ provider_txn_id: id, credits, gross_amount_minor }: Granted): void => {
    if (sales.has(id)) say('sold-twice', `${id} is booked twice`);
    sales.add(id);
    const intent = stripe.intents.get(id);
    if (intent?.status !== 'succeeded') say('sold-unpaid', `${id} is booked, and not paid`);
    else if (intent.amount !== gross_amount_minor || creditsOf(intent) !== credits)
      say('sold-otherwise', `${id} is booked for ${String(credits)} credits`);
    least = Infinity;
  };

  /** Before the next top-up, the one before is paid and booked, and the balance was low since. */
  const checkCrossing = (made: Intent, before: readonly Intent[]): void => {
    const last = before.filter((one) => !isDeclined(one)).at(-1);
    if (last !== undefined && !sales.has(last.id))
      say('charged-twice', `${made.id} was charged before ${last.id} was booked`);
    else if (least >= THRESHOLD)
      say('charged-high', `${made.id} was charged at a balance of ${String(least)}`);
  };

  const standing = ({ customer, metadata }: Intent, askedAt: number): readonly Consent[] =>
    consents.filter(
      ({ active, payer, credits, until }) =>
        active && payer === customer && String(credits) === metadata['quire_credits'] && until > askedAt,
    );

  /** In its month, without what was charged about when that began. */
  const boughtWith = (made: Intent, before: readonly Intent[]): number => {
    const now = new Date(nowMs());
    const began = Date.UTC(now.getUTCFullYear(), now.getUTCMonth()) + SKEW_MS;
    return [...before, made]
      .filter((one) => !isDeclined(one) && one.created * 1_000 >= began)
      .reduce((sum, one) => sum + creditsOf(one), 0);
  };

  const charged = (made: Intent, before: readonly Intent[], askedAt: number): void => {
    checkCrossing(made, before);
    const agreed = standing(made, askedAt);
    if (agreed.length === 0) say('not-agreed', `${made.id} was charged, and nobody agreed to it`);
    const most = Math.max(...agreed.map(({ monthly_credits_max }) => monthly_credits_max));
    const bought = boughtWith(made, before);
    if (bought > most) say('above-maximum', `${made.id}: ${String(bought)} of ${String(most)} this month`);
  };

  return {
    see: ({ type, data }: RecordedEvent): void => {
      if (type === 'TopUpSet') {
        const last = consents.at(-1);
        if (last !== undefined) last.until = nowMs();
        consents.push({ ...(data as unknown as Consent), until: Infinity });
      }
      if (type === 'CreditsGranted') booked(data as unknown as Granted);
      if (!('balance_after' in data)) return;
      balance = Number(data['balance_after']);
      least = Math.min(least, balance);
    },
    /** Does a call of Stripe's, and looks at a charge that it makes; `askedAt`: when its maker asked last. */
    charging: <T>({ askedAt }: { readonly askedAt: number }, call: () => T): T => {
      const before = all();
      const answer = call();
      for (const made of all().slice(before.length)) if (!isDeclined(made)) charged(made, before, askedAt);
      return answer;
    },
    /** All has been well for hours: the last of those that were told did nothing, for a reason that lasts. */
    ended: (last: string | undefined): void => {
      if (!['not_due', 'limit', 'stopped'].includes(last ?? ''))
        say('not-settled', `the last of all says ${String(last)} at a balance of ${String(balance)}`);
    },
    settled: (): void => {
      for (const { id, status } of all())
        if (status === 'succeeded' && !sales.has(id)) say('unbooked', `${id} was paid, and is not booked`);
    },
    charges: (): number => all().filter(({ status }) => status === 'succeeded').length,
  };
};
