import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { paymentsApp, type PaymentsDeps } from '../../src/payments/app.ts';
import { sidesOf } from '../../src/payments/runPayments.ts';
import { listen, type HttpServer } from '../../src/server/connections.ts';
import type { Reply } from '../http/support/client.ts';
import { startApi, type TestApi } from '../http/support/testApi.ts';
import { type Delivery, STRIPE_KEY, StripeDouble, WEBHOOK_SECRET } from './stripeDouble.ts';

/** Of a webhook that tells of low balances. */
export const LOW_BALANCE_SECRET = `whsec_${Buffer.from('a secret of a webhook in a spec').toString('base64')}`;

export const CHECKOUT_TOKEN = 'checkout-token-of-a-shop';

/** Prices of 1,000 credits: 10 US dollars, 9 euros with VAT, 1,500 yen, 1,400 krónur. */
const PRICES = [
  { currency: 'USD', price_per_1000_credits: '10' },
  { currency: 'EUR', price_per_1000_credits: '9', tax_basis: 'inclusive' },
  { currency: 'JPY', price_per_1000_credits: '1500' },
  { currency: 'ISK', price_per_1000_credits: '1400' },
  { currency: 'UGX', price_per_1000_credits: '37000' },
  { currency: 'MGA', price_per_1000_credits: '45000' },
];

/** A grant as the service lists it. */
export type Grant = Readonly<Record<string, unknown>>;

/** The service, a double of Stripe, and the payments process between them. */
export interface World {
  readonly api: TestApi;
  readonly stripe: StripeDouble;
  readonly config: Parameters<typeof sidesOf>[0];
  /** What the payments process logged. */
  readonly logged: readonly { readonly level: string; readonly text: string }[];
  /** Starts the payments process, or another in its place. */
  readonly restart: (changes?: Partial<PaymentsDeps>) => Promise<void>;
  readonly url: () => string;
  /** Sends an event, and gives the status of the answer. */
  readonly deliver: (event: Delivery, signed?: RequestInit) => Promise<number>;
  /** Sends all events that were made since the last time, those of the types alone if some are named. */
  readonly deliverAll: (...types: readonly string[]) => Promise<readonly number[]>;
  /** Makes a checkout page and gives the ID of its session. */
  readonly page: (asked: object) => Promise<string>;
  readonly checkout: (asked: object, headers?: Readonly<Record<string, string>>) => Promise<Response>;
  readonly balance: (tenant: string) => Promise<number>;
  readonly grants: (tenant: string) => Promise<readonly Grant[]>;
  readonly stop: () => Promise<void>;
}

const ok = (reply: Reply): Reply => {
  expect(reply.status, reply.text).to.equal(200);
  return reply;
};

const reading = (api: TestApi) => ({
  balance: async (tenant: string): Promise<number> => {
    const reply = await api.call('get', `/v1/billing/balance/${tenant}`);
    return reply.status === 404 ? 0 : Number(ok(reply).body['balance_credits']);
  },
  grants: async (tenant: string): Promise<readonly Grant[]> => {
    const reply = await api.call('get', `/v1/billing/grants/${tenant}?limit=100`);
    return reply.status === 404 ? [] : (ok(reply).body['items'] as readonly Grant[]);
  },
});

/** A tenant of its own. */
export const newTenant = (): string => `Shop-${randomUUID()}`;

/** Starts all three; whoever starts it stops it. */
export const startWorld = async (): Promise<World> => {
  const api = await startApi({ WEBHOOKS_ALLOW_PRIVATE_NETWORK: 'true' });
  const stripe = new StripeDouble();
  await stripe.start();
  ok(await api.call('post', '/v1/admin/credit-prices', { json: { entries: PRICES } }));
  const key = await api.newKey('operator', 'seller');
  const config = {
    url: api.url,
    key,
    stripeKey: STRIPE_KEY,
    stripeUrl: stripe.url,
    webhookSecrets: [WEBHOOK_SECRET],
    lowBalanceSecrets: [LOW_BALANCE_SECRET],
    isLive: false,
    automaticTax: false,
    checkoutToken: CHECKOUT_TOKEN,
  };
  const logged: { level: string; text: string }[] = [];
  let server: HttpServer | undefined;
  const restart = async (changes: Partial<PaymentsDeps> = {}) => {
    await server?.close();
    const deps: PaymentsDeps = {
      ...config,
      ...sidesOf(config),
      nowMs: () => stripe.nowMs(),
      log: (level, _facts, text) => void logged.push({ level, text }),
      ...changes,
    };
    server = await listen(paymentsApp(deps), { host: '127.0.0.1', port: 0 });
  };
  await restart();
  const url = () => server?.url ?? '';
  const deliver = async (event: Delivery, signed: RequestInit = stripe.signed(event)) =>
    (await fetch(`${url()}/webhooks/stripe`, signed)).status;
  const checkout = (asked: object, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${url()}/checkout`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${CHECKOUT_TOKEN}`, ...headers },
      body: JSON.stringify({
        currency: 'USD',
        success_url: 'https://shop.example/thanks',
        cancel_url: 'https://shop.example',
        ...asked,
      }),
    });
  return {
    api,
    stripe,
    config,
    logged,
    restart,
    url,
    deliver,
    checkout,
    ...reading(api),
    deliverAll: async (...types) => {
      const statuses: number[] = [];
      for (const event of stripe.take())
        if (types.length === 0 || types.includes(event.type)) statuses.push(await deliver(event));
      return statuses;
    },
    page: async (asked) => {
      const answer = await checkout(asked);
      const body = (await answer.json()) as { readonly session_id: string };
      expect(answer.status, JSON.stringify(body)).to.equal(201);
      return body.session_id;
    },
    stop: async () => {
      await server?.close();
      await stripe.stop();
      await api.stop();
    },
  };
};
