import { createHash, timingSafeEqual } from 'node:crypto';
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express';
import Stripe from 'stripe';
import { z } from 'zod';
import { isProblem, ProblemError, verifyWebhook, WebhookError } from '../../sdk/src/index.ts';
import { messageOf } from '../../domain/kernel/json.ts';
import { checkoutPage, checkoutRequest, type CheckoutSettings } from './checkout.ts';
import { UnusablePayment } from './sales.ts';
import { tellNeedsPerson, topUp, type TopUpOutcome } from './topUp.ts';
import {
  settleIntent,
  settleInvoice,
  settleNamed,
  settlePayout,
  settleSession,
  type Sides,
} from './settling.ts';

/** What the process works with. */
export interface PaymentsDeps extends Sides, CheckoutSettings {
  /** Secrets of the webhook's signature; two during a rotation. */
  readonly webhookSecrets: readonly string[];
  /** Whether real money moves: events of the other mode are refused. */
  readonly isLive: boolean;
  /** Secrets of the service's own webhooks, which say that a balance is low; none: there are no top-ups. */
  readonly lowBalanceSecrets: readonly string[];
  /** The password of `POST /checkout`; undefined: the route is not served. */
  readonly checkoutToken: string | undefined;
  readonly nowMs: () => number;
  readonly log: (level: 'info' | 'warn' | 'error', facts: object, text: string) => void;
}

/** Of an event, what is read of it: the payment itself is asked for, for it may have moved on. */
const stripeEvent = z.object({
  id: z.string(),
  type: z.string(),
  livemode: z.boolean(),
  data: z.object({
    object: z.object({
      id: z.string(),
      payment_intent: z.union([z.string(), z.object({ id: z.string() })]).nullish(),
    }),
  }),
});

type StripeEvent = z.output<typeof stripeEvent>;
type Settle = (sides: Sides, object: StripeEvent['data']['object']) => Promise<boolean>;

const settleById =
  (settle: (sides: Sides, id: string) => Promise<boolean>): Settle =>
  (sides, { id }) =>
    settle(sides, id);

/** Every event that is listened to, and what it brings up to date. */
const EVENTS: Readonly<Record<string, Settle>> = {
  'checkout.session.completed': settleById(settleSession),
  'checkout.session.async_payment_succeeded': settleById(settleSession),
  'invoice.paid': settleById(settleInvoice),
  'payment_intent.succeeded': settleById(settleIntent),
  'charge.succeeded': settleNamed,
  'charge.updated': settleNamed,
  'charge.refunded': settleNamed,
  'refund.created': settleNamed,
  'refund.updated': settleNamed,
  'refund.failed': settleNamed,
  'charge.dispute.created': settleNamed,
  'charge.dispute.closed': settleNamed,
  'charge.dispute.funds_withdrawn': settleNamed,
  'charge.dispute.funds_reinstated': settleNamed,
  'payout.paid': settleById(settlePayout),
};

/** Names of the events that Stripe has to be told to send. */
export const EVENT_TYPES: readonly string[] = Object.keys(EVENTS);

/** An event is far below it. */
const BODY_BYTES_MAX = 1_048_576;
/** How old a signature may be, seconds: clocks differ, and an event that was recorded is not sent by others later. */
const SIGNED_WITHIN_SECONDS = 300;

/** A delivery that is refused for what it is. */
class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The event of a delivery that is Stripe's, by one of the secrets. Throws Refused. */
const eventIn = (req: Request, { stripe, webhookSecrets, nowMs }: PaymentsDeps): StripeEvent => {
  const body: unknown = req.body;
  const header = req.get('stripe-signature') ?? '';
  const isSigned = (secret: string): boolean => {
    try {
      const args = [header, secret, SIGNED_WITHIN_SECONDS, undefined, nowMs()] as const;
      stripe.webhooks.constructEvent(body as Buffer, ...args);
      return true;
    } catch {
      return false;
    }
  };
  if (!Buffer.isBuffer(body) || !webhookSecrets.some(isSigned))
    throw new Refused(400, 'wrong_signature', 'The signature is not by the secret, or too old.');
  const { data } = stripeEvent.safeParse(JSON.parse(body.toString('utf8')));
  if (data === undefined) throw new Refused(400, 'malformed', 'The body is no event with an object.');
  return data;
};

const checkMode = ({ livemode }: StripeEvent, { isLive }: PaymentsDeps): void => {
  if (livemode === isLive) return;
  const [sent, own] = isLive ? ['test', 'live'] : ['live', 'test'];
  throw new Refused(
    400,
    'other_mode',
    `The event is of ${sent} mode, the key of this process of ${own} mode.`,
  );
};

/** Refusals of the service that end by themselves: the other side sends again. */
const PASSING = [
  'rate_limited',
  'request_in_progress',
  'invalid_api_key',
  'admin_required',
  'original_grant_not_found',
  'refund_not_found',
  'insufficient_balance',
] as const;

/** Whether it needs a person: sent again as it is, it would be refused again. */
const needsPerson = (error: unknown): boolean => {
  if (error instanceof UnusablePayment) return true;
  if (error instanceof ProblemError) return error.status < 500 && !isProblem(error, ...PASSING);
  return error instanceof Stripe.errors.StripeInvalidRequestError;
};

const statusOf = (error: unknown): { readonly status: number; readonly code: string } => {
  if (error instanceof Refused) return error;
  if (error instanceof Stripe.errors.StripeIdempotencyError)
    return { status: 409, code: 'idempotency_key_reused' };
  return needsPerson(error) ? { status: 422, code: 'needs_a_person' } : { status: 503, code: 'try_again' };
};

const delivered = async (req: Request, res: Response, deps: PaymentsDeps): Promise<void> => {
  const event = eventIn(req, deps);
  checkMode(event, deps);
  const settle = EVENTS[event.type];
  const facts = { event_id: event.id, type: event.type, object_id: event.data.object.id };
  try {
    const settled = settle !== undefined && (await settle(deps, event.data.object));
    deps.log('info', { ...facts, settled }, 'an event was taken');
    res.json({ received: true, settled });
  } catch (error) {
    const { status, code } = statusOf(error);
    const text = `a payment ${status === 422 ? 'needs a person' : 'is not booked yet'}: ${messageOf(error)}`;
    deps.log(status === 422 ? 'error' : 'warn', { ...facts, code }, text);
    res.status(status).json({ error: code, detail: messageOf(error) });
  }
};

const lowBalance = z.object({ type: z.string(), tenant_id: z.string().nullable() });
const LOW: readonly string[] = ['balance.low', 'balance.exhausted'];
/** Messages that the service has to send again, in its own growing pauses. */
const AGAIN: readonly TopUpOutcome[] = ['waits', 'declined'];

const messageIn = async (req: Request, { lowBalanceSecrets, nowMs }: PaymentsDeps) => {
  const body: unknown = req.body;
  try {
    if (!Buffer.isBuffer(body)) throw new WebhookError('malformed');
    return await verifyWebhook({ body, headers: req.headers }, lowBalanceSecrets, { nowMs: nowMs() });
  } catch (error) {
    throw error instanceof WebhookError ? new Refused(400, 'wrong_signature', error.message) : error;
  }
};

const notToppedUp = async (
  res: Response,
  deps: PaymentsDeps,
  { tenant, error }: { readonly tenant: string; readonly error: unknown },
): Promise<void> => {
  const { status, code } = statusOf(error);
  const isLasting = status === 422;
  const level = isLasting ? 'error' : 'warn';
  deps.log(level, { tenant_id: tenant, code }, `no top-up: ${messageOf(error)}`);
  // The log says it all the same where the service cannot be told now.
  if (isLasting) await tellNeedsPerson(deps, tenant, error).catch(() => undefined);
  res.status(status).json({ error: code, detail: messageOf(error) });
};

const toppedUp = async (req: Request, res: Response, deps: PaymentsDeps): Promise<void> => {
  const { data } = lowBalance.safeParse(await messageIn(req, deps));
  const tenant = data?.tenant_id;
  if (data === undefined || tenant == null || !LOW.includes(data.type)) {
    res.json({ received: true });
    return;
  }
  try {
    const outcome = await topUp(deps, tenant);
    const level = outcome === 'stopped' ? 'error' : AGAIN.includes(outcome) ? 'warn' : 'info';
    deps.log(level, { tenant_id: tenant, outcome }, `a balance is low: ${outcome.replace('_', ' ')}`);
    res.status(AGAIN.includes(outcome) ? 503 : 200).json({ received: true, outcome });
  } catch (error) {
    await notToppedUp(res, deps, { tenant, error });
  }
};

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

const checkShop = (req: Request, token: string): void => {
  const given = /^Bearer (\S+)$/i.exec(req.get('authorization') ?? '')?.[1] ?? '';
  if (timingSafeEqual(digestOf(given), digestOf(token))) return;
  throw new Refused(401, 'wrong_token', 'Send the token of checkout pages: Authorization: Bearer <token>.');
};

const pageMade = async (req: Request, res: Response, deps: PaymentsDeps): Promise<void> => {
  const { data, error } = checkoutRequest.safeParse(req.body);
  if (data === undefined) throw new Refused(422, 'validation_error', z.prettifyError(error));
  const { automaticTax } = deps;
  const idempotencyKey = req.get('idempotency-key');
  try {
    res
      .status(201)
      .json(await checkoutPage(deps, data, { automaticTax, idempotencyKey, nowMs: deps.nowMs() }));
  } catch (failure) {
    const { status, code } = statusOf(failure);
    deps.log('warn', { code }, `no checkout page: ${messageOf(failure)}`);
    res.status(status).json({ error: code, detail: messageOf(failure) });
  }
};

/** Errors of express and its parsers say their status; anything else is ours. */
const failed =
  (deps: PaymentsDeps): ErrorRequestHandler =>
  // eslint-disable-next-line max-params -- Express tells an error handler by its four parameters
  (error: unknown, _req, res, _next) => {
    const { status = 500, code } = error as { readonly status?: number; readonly code?: string };
    const isTheirs = status >= 400 && status < 500;
    if (!isTheirs) deps.log('error', {}, `a request failed: ${messageOf(error)}`);
    else deps.log('warn', { status, code }, `a request was refused: ${messageOf(error)}`);
    const detail = isTheirs ? messageOf(error) : 'Something broke here.';
    res
      .status(isTheirs ? status : 500)
      .json({ error: code ?? (isTheirs ? 'refused' : 'internal_error'), detail });
  };

/**
 * Takes Stripe's webhooks and tells the service of payments, and makes checkout pages. It keeps nothing: each event
 * brings the books to where Stripe has the payment now, so that repeats, disorder and losses change nothing.
 */
export const paymentsApp = (deps: PaymentsDeps): Express => {
  const app = express().disable('x-powered-by');
  const raw = express.raw({ type: () => true, limit: BODY_BYTES_MAX, inflate: false });
  app.get('/health', (_req, res) => void res.json({ status: 'ok' }));
  app.post('/webhooks/stripe', raw, (req, res) => delivered(req, res, deps));
  if (deps.lowBalanceSecrets.length > 0)
    app.post('/webhooks/quire', raw, (req, res) => toppedUp(req, res, deps));
  const { checkoutToken } = deps;
  if (checkoutToken !== undefined) {
    const isShop = (req: Request, _res: Response, next: () => void): void => {
      checkShop(req, checkoutToken);
      next();
    };
    app.post('/checkout', isShop, express.json({ limit: 65_536 }), (req, res) => pageMade(req, res, deps));
  }
  app.use(() => {
    throw new Refused(404, 'not_found', 'There is nothing at this address.');
  });
  return app.use(failed(deps));
};
