import { once } from 'node:events';
import { pino } from 'pino';
import Stripe from 'stripe';
import { Quire } from '../../sdk/src/index.ts';
import type { PaymentsConfig } from '../clientConfig.ts';
import { ownRedactor } from '../config.ts';
import { listen } from '../server/connections.ts';
import { type PaymentsDeps, paymentsApp } from './app.ts';

/** Stripe gives up on a delivery after 30 s, and sends it again. */
const PATIENCE = { attempts: 3, firstPauseMs: 200, longestPauseMs: 3_000 } as const;
const STRIPE_TIMEOUT_MS = 10_000;

/** Both sides as a configuration names them. */
export const sidesOf = ({
  url,
  key,
  stripeKey,
  stripeUrl,
}: PaymentsConfig): Pick<PaymentsDeps, 'quire' | 'stripe'> => {
  const { hostname: host, port, protocol } = new URL(stripeUrl);
  const isPlain = protocol === 'http:';
  const stripe = new Stripe(stripeKey, {
    host,
    protocol: isPlain ? 'http' : 'https',
    timeout: STRIPE_TIMEOUT_MS,
    maxNetworkRetries: 2,
    port: port === '' ? (isPlain ? 80 : 443) : Number(port),
    telemetry: false,
    appInfo: { name: 'quire' },
  });
  return { stripe, quire: new Quire({ url, key, patience: PATIENCE }).api };
};

interface Run {
  readonly signal: AbortSignal;
  readonly note: (text: string) => void;
}

/** Serves webhooks and checkout pages until it is stopped; deliveries that run are finished. */
export const runPayments = async (
  config: PaymentsConfig,
  place: { readonly host: string; readonly port: number },
  { signal, note }: Run,
): Promise<void> => {
  const logger = pino({ base: null }, pino.destination({ dest: 1, sync: true }));
  const redact = ownRedactor();
  const app = paymentsApp({
    ...sidesOf(config),
    webhookSecrets: config.webhookSecrets,
    isLive: config.isLive,
    automaticTax: config.automaticTax,
    lowBalanceSecrets: config.lowBalanceSecrets,
    checkoutToken: config.checkoutToken,
    nowMs: () => Date.now(),
    log: (level, facts, text) => logger[level](facts, redact(text)),
  });
  const server = await listen(app, place);
  const mode = config.isLive ? 'live' : 'test';
  note(
    `Stripe's webhooks (${mode} mode) at ${server.url}/webhooks/stripe, for the service at ${config.url}.\n`,
  );
  if (!signal.aborted) await once(signal, 'abort');
  await server.close();
};
