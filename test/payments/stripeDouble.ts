import { randomUUID } from 'node:crypto';
import express, { type Request, type Response } from 'express';
import Stripe from 'stripe';
import { z } from 'zod';
import { listen } from '../../src/server/connections.ts';

/** A key and secrets of nobody. */
export const STRIPE_KEY = 'sk_test_of_the_double';
export const WEBHOOK_SECRET = 'whsec_of_the_double';

type Metadata = Readonly<Record<string, string>>;

interface Session {
  readonly id: string;
  readonly object: 'checkout.session';
  readonly created: number;
  readonly currency: string;
  readonly amount_total: number;
  readonly total_details: { readonly amount_discount: number; readonly amount_tax: number };
  readonly metadata: Metadata;
  readonly url: string;
  readonly expires_at: number;
  status: 'open' | 'complete' | 'expired';
  payment_status: 'unpaid' | 'paid' | 'no_payment_required';
  payment_intent: string | null;
}

interface BalanceTransaction {
  readonly id: string;
  readonly object: 'balance_transaction';
  readonly type: string;
  readonly amount: number;
  readonly currency: string;
  readonly fee: number;
  readonly source: string;
  payout: string | null;
}

interface Charge {
  readonly id: string;
  readonly object: 'charge';
  readonly payment_intent: string;
  readonly amount: number;
  readonly currency: string;
  balance_transaction: BalanceTransaction | null;
}

interface Intent {
  readonly id: string;
  readonly object: 'payment_intent';
  readonly created: number;
  readonly currency: string;
  readonly amount: number;
  amount_received: number;
  readonly metadata: Metadata;
  readonly customer: string | null;
  status: 'processing' | 'succeeded' | 'requires_payment_method';
  latest_charge: Charge | null;
}

interface Refund {
  readonly id: string;
  readonly object: 'refund';
  readonly payment_intent: string;
  readonly amount: number;
  readonly currency: string;
  readonly created: number;
  status: string;
}

interface Dispute {
  readonly id: string;
  readonly object: 'dispute';
  readonly payment_intent: string;
  readonly amount: number;
  readonly currency: string;
  readonly balance_transactions: Pick<BalanceTransaction, 'amount' | 'currency' | 'fee'>[];
  status: string;
}

interface Invoice {
  readonly id: string;
  readonly object: 'invoice';
  readonly number: string;
  readonly created: number;
  readonly currency: string;
  readonly total: number;
  readonly total_taxes: readonly { readonly amount: number }[];
  readonly total_discount_amounts: readonly { readonly amount: number }[];
  readonly metadata: Metadata;
  readonly parent: null;
  readonly status: 'paid';
  readonly payments: { readonly object: 'list'; readonly data: readonly object[] };
}

/** An event as it is delivered: what it says of its object is how that was when the event was made. */
export interface Delivery {
  readonly type: string;
  readonly body: string;
}

const whole = z.string().regex(/^\d+$/).transform(Number);
const flag = z.enum(['true', 'false']);

/** What a page may be asked for; anything else is refused, as Stripe does. */
const sessionRequest = z.strictObject({
  mode: z.literal('payment'),
  line_items: z
    .array(
      z.strictObject({
        quantity: z.literal('1'),
        price_data: z.strictObject({
          currency: z.string().regex(/^[a-z]{3}$/),
          unit_amount: whole,
          tax_behavior: z.enum(['inclusive', 'exclusive']),
          product_data: z.strictObject({
            name: z.string().min(1),
            description: z.string().min(1).optional(),
          }),
        }),
      }),
    )
    .length(1),
  success_url: z.url(),
  cancel_url: z.url(),
  metadata: z.record(z.string().max(40), z.string().max(500)),
  customer: z.string().startsWith('cus_').optional(),
  customer_creation: z.literal('always').optional(),
  discounts: z.array(z.strictObject({ coupon: z.string() })).optional(),
  payment_intent_data: z.strictObject({ setup_future_usage: z.literal('off_session') }).optional(),
  automatic_tax: z.strictObject({ enabled: flag }).optional(),
  adaptive_pricing: z.strictObject({ enabled: flag }),
  expires_at: whole,
});

const intentRequest = z.strictObject({
  amount: whole,
  currency: z.string().regex(/^[a-z]{3}$/),
  customer: z.string().startsWith('cus_'),
  payment_method: z.string().startsWith('pm_').optional(),
  confirm: z.literal('true'),
  off_session: z.literal('true'),
  description: z.string().optional(),
  metadata: z.record(z.string().max(40), z.string().max(500)),
});

class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const found = <T>(map: ReadonlyMap<string, T>, id: unknown): T => {
  const one = map.get(String(id));
  if (one === undefined) throw new Refusal(404, 'resource_missing', `No such object: '${String(id)}'`);
  return one;
};

const parsed = <Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> => {
  const { data, error } = schema.safeParse(body);
  if (data === undefined) throw new Refusal(400, 'parameter_unknown', z.prettifyError(error!));
  return data;
};

const list = (url: string, data: readonly object[]) => ({ object: 'list', url, has_more: false, data });

/** What an intent paid, or what of it went back, the newest first. */
const paidBy = <T extends { readonly payment_intent: string | null }>(
  { query }: Request,
  map: ReadonlyMap<string, T>,
): readonly T[] =>
  [...map.values()].filter(({ payment_intent }) => payment_intent === query['payment_intent']).reverse();

/** What Stripe takes off for a coupon, percent. */
const COUPONS: Readonly<Record<string, number>> = { TENTH: 10, GIFT: 100 };
/** VAT of pages with automatic tax, percent. */
const TAX = 19;

/** What a coupon takes off a price. */
const discountOf = (price: number, coupon: string | undefined): number => {
  if (coupon === undefined) return 0;
  const percent = COUPONS[coupon];
  if (percent === undefined) throw new Refusal(400, 'resource_missing', `No such coupon: '${coupon}'`);
  return Math.round((price * percent) / 100);
};

/** What a page asks for: its discount, and its tax on top or within. */
const moneyOf = (asked: z.output<typeof sessionRequest>) => {
  const { unit_amount: price, tax_behavior } = asked.line_items[0]!.price_data;
  const amount_discount = discountOf(price, asked.discounts?.[0]?.coupon);
  const left = price - amount_discount;
  const isWithin = tax_behavior === 'inclusive';
  const tax = isWithin ? Math.round(left - left / (1 + TAX / 100)) : Math.round((left * TAX) / 100);
  const amount_tax = asked.automatic_tax?.enabled === 'true' ? tax : 0;
  return { amount_total: left + (isWithin ? 0 : amount_tax), total_details: { amount_discount, amount_tax } };
};

const newId = (kind: string): string => `${kind}_${randomUUID().replaceAll('-', '')}`;

/**
 * A double of Stripe: its API as far as the payments process calls it, and what payers, banks and the dashboard do. It
 * refuses what Stripe refuses: another key, unknown parameters, an idempotency key with other parameters.
 */
export class StripeDouble {
  readonly sessions = new Map<string, Session>();
  readonly intents = new Map<string, Intent>();
  readonly refunds = new Map<string, Refund>();
  readonly disputes = new Map<string, Dispute>();
  readonly invoices = new Map<string, Invoice>();
  readonly settled: BalanceTransaction[] = [];
  readonly #kept = new Map<string, { readonly sent: string; readonly answer: object }>();
  /** Events that were made and not taken by the spec yet. */
  events: Delivery[] = [];
  /** Whether cards decline. */
  declines = false;
  /** Requests that were answered, by their path without IDs. */
  readonly asked = new Map<string, number>();
  livemode = false;
  nowMs: () => number = () => Date.now();
  url = '';
  #close: () => Promise<void> = () => Promise.resolve();

  readonly #lib = new Stripe(STRIPE_KEY);

  get #now(): number {
    return Math.floor(this.nowMs() / 1000);
  }

  /** Headers and body of a delivery, signed now or at another time (seconds since 1970). */
  signed({ body: payload }: Delivery, at = this.#now, secret = WEBHOOK_SECRET) {
    const signature = this.#lib.webhooks.generateTestHeaderString({ payload, secret, timestamp: at });
    const headers = { 'content-type': 'application/json', 'stripe-signature': signature };
    return { method: 'POST', headers, body: payload };
  }

  /** Takes the events that were made since the last time. */
  take(): readonly Delivery[] {
    const made = this.events;
    this.events = [];
    return made;
  }

  #emit(type: string, object: { readonly id: string }): void {
    const event = {
      id: newId('evt'),
      object: 'event',
      type,
      livemode: this.livemode,
      created: this.#now,
      data: { object },
    };
    this.events.push({ type, body: JSON.stringify(event) });
  }

  #settle(charge: Charge, { type, amount, fee }: { type: string; amount: number; fee: number }) {
    // The account is in US dollars: whatever is paid otherwise is converted.
    const currency = 'usd';
    const rate = charge.currency === currency ? 1 : 1.25;
    const settled: BalanceTransaction = {
      id: newId('txn'),
      object: 'balance_transaction',
      type,
      currency,
      fee,
      amount: Math.round(amount * rate),
      source: charge.id,
      payout: null,
    };
    this.settled.push(settled);
    return settled;
  }

  #charged(intent: Intent, at: { readonly feeKnown: boolean }): void {
    const charge: Charge = {
      id: newId('ch'),
      object: 'charge',
      payment_intent: intent.id,
      amount: intent.amount,
      currency: intent.currency,
      balance_transaction: null,
    };
    intent.status = 'succeeded';
    intent.amount_received = intent.amount;
    intent.latest_charge = charge;
    this.#emit('charge.succeeded', charge);
    this.#emit('payment_intent.succeeded', intent);
    if (at.feeKnown) this.feeBecomesKnown(intent.id);
  }

  feeBecomesKnown(intentId: string): void {
    const { latest_charge: charge } = found(this.intents, intentId);
    if (charge === null || charge.balance_transaction !== null) return;
    const fee = Math.round(charge.amount * 0.029) + 30;
    charge.balance_transaction = this.#settle(charge, { type: 'charge', amount: charge.amount, fee });
    this.#emit('charge.updated', charge);
  }

  #intent(of: Pick<Intent, 'currency' | 'amount' | 'metadata' | 'customer'>): Intent {
    const intent: Intent = {
      id: newId('pi'),
      object: 'payment_intent',
      created: this.#now,
      ...of,
      amount_received: 0,
      status: 'processing',
      latest_charge: null,
    };
    this.intents.set(intent.id, intent);
    return intent;
  }

  /** The payer pays a page: at once, or by a way of paying that takes days. */
  pay(sessionId: string, how: { readonly isSlow?: boolean; readonly feeKnown?: boolean } = {}): string {
    const session = found(this.sessions, sessionId);
    const { currency, amount_total: amount } = session;
    session.status = 'complete';
    if (amount === 0) {
      session.payment_status = 'no_payment_required';
      this.#emit('checkout.session.completed', session);
      return session.id;
    }
    const intent = this.#intent({ currency, amount, metadata: {}, customer: null });
    session.payment_intent = intent.id;
    if (how.isSlow !== true) {
      this.#charged(intent, { feeKnown: how.feeKnown ?? true });
      session.payment_status = 'paid';
    }
    this.#emit('checkout.session.completed', session);
    return intent.id;
  }

  /** Money of a slow way of paying arrives, or never does. */
  arrive(sessionId: string, { isPaid = true } = {}): void {
    const session = found(this.sessions, sessionId);
    if (isPaid) {
      this.#charged(found(this.intents, session.payment_intent), { feeKnown: true });
      session.payment_status = 'paid';
    }
    this.#emit(`checkout.session.async_payment_${isPaid ? 'succeeded' : 'failed'}`, session);
  }

  refund(intentId: string, amount: number, status = 'succeeded'): string {
    const { currency, latest_charge } = found(this.intents, intentId);
    const refund: Refund = {
      id: newId('re'),
      object: 'refund',
      payment_intent: intentId,
      amount,
      currency,
      created: this.#now,
      status,
    };
    this.refunds.set(refund.id, refund);
    this.#emit('refund.created', refund);
    if (latest_charge !== null) this.#emit('charge.refunded', latest_charge);
    return refund.id;
  }

  changeRefund(refundId: string, status: 'succeeded' | 'failed' | 'canceled'): void {
    const refund = found(this.refunds, refundId);
    refund.status = status;
    this.#emit(status === 'failed' ? 'refund.failed' : 'refund.updated', refund);
  }

  dispute(intentId: string, amount: number, status = 'needs_response'): string {
    const { currency } = found(this.intents, intentId);
    const taken = status.startsWith('warning') ? [] : [{ amount: -amount, currency, fee: 1_500 }];
    const dispute: Dispute = {
      id: newId('du'),
      object: 'dispute',
      payment_intent: intentId,
      amount,
      currency,
      status,
      balance_transactions: taken,
    };
    this.disputes.set(dispute.id, dispute);
    this.#emit('charge.dispute.created', dispute);
    return dispute.id;
  }

  closeDispute(disputeId: string, status: 'won' | 'lost'): void {
    const dispute = found(this.disputes, disputeId);
    dispute.status = status;
    if (status === 'won') {
      dispute.balance_transactions.push({ amount: dispute.amount, currency: dispute.currency, fee: 0 });
      this.#emit('charge.dispute.funds_reinstated', dispute);
    }
    this.#emit('charge.dispute.closed', dispute);
  }

  /** An invoice that was paid by so many payments of equal parts. */
  invoice(of: { currency: string; total: number; tax?: number; metadata: Metadata }, payments = 1): string {
    const { currency, total, metadata, tax = 0 } = of;
    const id = newId('in');
    const intents = Array.from({ length: payments }, () => {
      const intent = this.#intent({ currency, amount: total / payments, metadata: {}, customer: null });
      this.#charged(intent, { feeKnown: true });
      return intent;
    });
    this.invoices.set(id, {
      id,
      object: 'invoice',
      number: `N-${id.slice(-6)}`,
      created: this.#now,
      currency,
      total,
      metadata,
      total_taxes: [{ amount: tax }],
      total_discount_amounts: [],
      parent: null,
      status: 'paid',
      payments: {
        object: 'list',
        data: intents.map((intent, at) => ({
          id: newId('inpay'),
          object: 'invoice_payment',
          invoice: id,
          status: 'paid',
          created: at,
          payment: { type: 'payment_intent', payment_intent: intent.id },
        })),
      },
    });
    this.#emit('invoice.paid', found(this.invoices, id));
    return id;
  }

  /** Pays out what was settled and is in no payout yet. */
  payOut(): string {
    const id = newId('po');
    for (const one of this.settled) one.payout ??= id;
    this.#emit('payout.paid', { id });
    return id;
  }

  #sessionOf(body: unknown): object {
    const asked = parsed(sessionRequest, body);
    const [item] = asked.line_items;
    const { currency } = item!.price_data;
    const seconds = asked.expires_at - this.#now;
    if (seconds < 1_800 || seconds > 86_400) throw new Refusal(400, 'parameter_invalid', 'expires_at');
    const id = newId('cs_test');
    const session: Session = {
      id,
      object: 'checkout.session',
      created: this.#now,
      currency,
      metadata: asked.metadata,
      ...moneyOf(asked),
      url: `https://checkout.example/${id}`,
      expires_at: asked.expires_at,
      status: 'open',
      payment_status: 'unpaid',
      payment_intent: null,
    };
    this.sessions.set(id, session);
    return session;
  }

  #intentOf(body: unknown): object {
    const { amount, currency, customer, metadata } = parsed(intentRequest, body);
    const intent = this.#intent({ amount, currency, metadata, customer });
    if (this.declines) {
      intent.status = 'requires_payment_method';
      throw new Refusal(402, 'card_declined', 'Your card was declined.');
    }
    this.#charged(intent, { feeKnown: true });
    return intent;
  }

  /** The same key with the same parameters is the same answer. */
  #once(req: Request, make: () => object): object {
    const key = req.get('idempotency-key');
    const sent = JSON.stringify(req.body);
    const kept = this.#kept.get(key ?? '');
    if (kept !== undefined) {
      if (kept.sent === sent) return kept.answer;
      throw new Refusal(
        400,
        'idempotency_error',
        'Keys for idempotent requests can only be used with the same parameters.',
      );
    }
    const answer = make();
    if (key !== undefined) this.#kept.set(key, { sent, answer });
    return answer;
  }

  /** Every address that is served: what it answers, by the IDs of its path. */
  readonly #routes: Readonly<Record<string, (req: Request, id: string) => object>> = {
    'POST checkout/sessions': (req) => this.#once(req, () => this.#sessionOf(req.body)),
    'GET checkout/sessions': (req) => list(req.path, paidBy(req, this.sessions)),
    'GET checkout/sessions/one': (_, id) => found(this.sessions, id),
    'POST payment_intents': (req) => this.#once(req, () => this.#intentOf(req.body)),
    'GET payment_intents': (req) => list(req.path, this.#intentsOf(req)),
    'GET payment_intents/one': (_, id) => found(this.intents, id),
    'GET refunds': (req) => list(req.path, paidBy(req, this.refunds)),
    'GET disputes': (req) => list(req.path, paidBy(req, this.disputes)),
    'GET invoices/one': (_, id) => found(this.invoices, id),
    'GET invoice_payments': (req) => list(req.path, this.#invoicePaymentsOf(req)),
    'GET balance_transactions': (req) => list(req.path, this.#settledIn(req)),
  };

  #intentsOf({ query }: Request): readonly Intent[] {
    const asked = z.object({ customer: z.string(), created: z.object({ gte: whole }) }).parse(query);
    return [...this.intents.values()]
      .filter(({ customer, created }) => customer === asked.customer && created >= asked.created.gte)
      .reverse();
  }

  #invoicePaymentsOf({ query }: Request): readonly object[] {
    const { payment } = z.object({ payment: z.object({ payment_intent: z.string() }) }).parse(query);
    const all = [...this.invoices.values()].flatMap(({ payments }) => payments.data);
    return all.filter((one) => JSON.stringify(one).includes(payment.payment_intent));
  }

  #settledIn({ query }: Request): readonly object[] {
    const charges = [...this.intents.values()].flatMap(({ latest_charge }) => latest_charge ?? []);
    return this.settled
      .filter(({ payout }) => payout === query['payout'])
      .map((one) => ({ ...one, source: charges.find(({ id }) => id === one.source) }));
  }

  #answer(req: Request): object {
    const [, , ...parts] = req.path.split('/');
    const names = parts[0] === 'checkout' ? 2 : 1;
    const id = parts[names] ?? '';
    const place = parts.slice(0, names).join('/');
    const route = `${req.method} ${place}${id === '' ? '' : '/one'}`;
    this.asked.set(route, (this.asked.get(route) ?? 0) + 1);
    const answer = this.#routes[route];
    if (answer === undefined)
      throw new Refusal(404, 'not_found', `Unrecognized request URL (${req.method}: ${req.path}).`);
    return answer(req, id);
  }

  async start(): Promise<void> {
    const app = express().set('query parser', 'extended');
    app.use(express.urlencoded({ extended: true }), (req: Request, res: Response) => {
      try {
        if (req.get('authorization') !== `Bearer ${STRIPE_KEY}`)
          throw new Refusal(401, 'invalid_api_key', 'Invalid API Key provided');
        res.json(this.#answer(req));
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const { status, code, message } = error;
        const type = status === 402 ? 'card_error' : 'invalid_request_error';
        res
          .status(status)
          .json({ error: { type: code === 'idempotency_error' ? code : type, code, message } });
      }
    });
    const server = await listen(app, { host: '127.0.0.1', port: 0 });
    this.url = server.url;
    this.#close = () => server.close();
  }

  stop(): Promise<void> {
    return this.#close();
  }
}
