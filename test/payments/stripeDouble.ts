import { randomUUID } from 'node:crypto';
import express, { type Request, type Response } from 'express';
import Stripe from 'stripe';
import { z } from 'zod';
import { listen } from '../../src/server/connections.ts';
import { intentRequest, moneyOf, parsed, Refusal, sessionRequest } from './stripeRequests.ts';

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
  last_payment_error: { readonly code: string; readonly decline_code: string } | null;
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

/** A request, as the double looks at it. */
export type Asked = Pick<Request, 'method' | 'path' | 'query' | 'body' | 'get'>;

/** How long Stripe remembers an idempotency key at least, ms. */
const KEY_KEPT_MS = 86_400_000;

const found = <T>(map: ReadonlyMap<string, T>, id: unknown): T => {
  const one = map.get(String(id));
  if (one === undefined) throw new Refusal(404, 'resource_missing', `No such object: '${String(id)}'`);
  return one;
};

const list = (url: string, data: readonly object[]) => ({ object: 'list', url, has_more: false, data });

/** What an intent paid, or what of it went back, the newest first. */
const paidBy = <T extends { readonly payment_intent: string | null }>(
  { query }: Asked,
  map: ReadonlyMap<string, T>,
): readonly T[] =>
  [...map.values()].filter(({ payment_intent }) => payment_intent === query['payment_intent']).reverse();

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
  /** By the idempotency key; a declined card is answered again like any success. */
  readonly #kept = new Map<
    string,
    { readonly sent: string; readonly answer: object | Refusal; readonly at: number }
  >();
  /** Events that were made and not taken by the spec yet. */
  events: Delivery[] = [];
  /** Customers that there are not. */
  readonly unknown = new Set<string>();
  /** Whether cards decline. */
  declines = false;
  /** Whether what cards pay arrives later, as by a debit. */
  isSlow = false;
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
      last_payment_error: null,
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

  /** Money of a slow charge arrives, or never does. */
  arriveIntent(intentId: string, { isPaid = true } = {}): void {
    const intent = found(this.intents, intentId);
    if (isPaid) this.#charged(intent, { feeKnown: true });
    else intent.status = 'requires_payment_method';
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
      intent.last_payment_error = { code: 'card_declined', decline_code: 'insufficient_funds' };
      const refusal = new Refusal(402, 'card_declined', 'Your card was declined.');
      throw Object.assign(refusal, { payment_intent: intent });
    }
    if (!this.isSlow) this.#charged(intent, { feeKnown: true });
    return intent;
  }

  /** The same key with the same parameters is the same answer, as long as Stripe remembers it. */
  #once(req: Asked, make: () => object): object {
    const key = req.get('idempotency-key');
    const sent = JSON.stringify(req.body);
    const kept = this.#kept.get(key ?? '');
    if (kept !== undefined && this.nowMs() - kept.at < KEY_KEPT_MS) {
      if (kept.sent !== sent)
        throw new Refusal(
          400,
          'idempotency_error',
          'Keys for idempotent requests can only be used with the same parameters.',
        );
      if (kept.answer instanceof Refusal) throw kept.answer;
      return kept.answer;
    }
    const keep = (answer: object): void => {
      if (key !== undefined) this.#kept.set(key, { sent, answer, at: this.nowMs() });
    };
    try {
      const answer = make();
      keep(structuredClone(answer));
      return answer;
    } catch (error) {
      if (error instanceof Refusal && error.status === 402) keep(error);
      throw error;
    }
  }

  /** Every address that is served: what it answers, by the IDs of its path. */
  readonly #routes: Readonly<Record<string, (req: Asked, id: string) => object>> = {
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

  #intentsOf({ query }: Asked): readonly Intent[] {
    const asked = z.object({ customer: z.string() }).parse(query);
    if (this.unknown.has(asked.customer))
      throw Object.assign(new Refusal(400, 'resource_missing', `No such customer: '${asked.customer}'`), {
        param: 'customer',
      });
    return [...this.intents.values()].filter(({ customer }) => customer === asked.customer).reverse();
  }

  #invoicePaymentsOf({ query }: Asked): readonly object[] {
    const { payment } = z.object({ payment: z.object({ payment_intent: z.string() }) }).parse(query);
    const all = [...this.invoices.values()].flatMap(({ payments }) => payments.data);
    return all.filter((one) => JSON.stringify(one).includes(payment.payment_intent));
  }

  #settledIn({ query }: Asked): readonly object[] {
    const charges = [...this.intents.values()].flatMap(({ latest_charge }) => latest_charge ?? []);
    return this.settled
      .filter(({ payout }) => payout === query['payout'])
      .map((one) => ({ ...one, source: charges.find(({ id }) => id === one.source) }));
  }

  #answerOf(req: Asked): object {
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

  /** What Stripe answers. */
  answer(req: Asked): { readonly status: number; readonly body: object } {
    try {
      if (req.get('authorization') !== `Bearer ${STRIPE_KEY}`)
        throw new Refusal(401, 'invalid_api_key', 'Invalid API Key provided');
      return { status: 200, body: this.#answerOf(req) };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { status, code, message, param, payment_intent } = error;
      const type = status === 402 ? 'card_error' : 'invalid_request_error';
      return {
        status,
        body: {
          error: { type: code === 'idempotency_error' ? code : type, code, message, param, payment_intent },
        },
      };
    }
  }

  async start(): Promise<void> {
    const app = express().set('query parser', 'extended');
    app.use(express.urlencoded({ extended: true }), (req: Request, res: Response) => {
      const { status, body } = this.answer(req);
      res.status(status).json(body);
    });
    const server = await listen(app, { host: '127.0.0.1', port: 0 });
    this.url = server.url;
    this.#close = () => server.close();
  }

  stop(): Promise<void> {
    return this.#close();
  }
}
