import { z } from 'zod';

/** A bad environment; `message` names each variable and what to do about it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** A mistake that the operator can do something about: one sentence, and how the command ends. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
  /** 1: it could not be done. 2: it was asked wrongly. */
  readonly exitCode: 1 | 2;
  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Variables of programs that call a service, `quire mcp` among them; a service knows and does not read them. */
export const CLIENT_VARIABLES = {
  QUIRE_URL: z
    .url({ protocol: /^https?$/, error: 'must be a URL of http or https' })
    .default('http://127.0.0.1:8080')
    .describe('the service’s address'),
  QUIRE_API_KEY: z.string().min(1).optional().describe('the key that it is called with'),
  QUIRE_TENANT: z
    .string()
    .min(1)
    .optional()
    .meta({ description: 'the tenant that it is called for', unset: 'each call names its own' }),
};

const secret = z.string().min(1);

/** Variables of `quire payments serve`, which needs `QUIRE_URL` and `QUIRE_API_KEY` too; only it reads them. */
export const PAYMENTS_VARIABLES = {
  STRIPE_SECRET_KEY: z
    .string()
    .regex(/^[rs]k_(?:live|test)_/, 'must be a secret or restricted key of Stripe: sk_live_…, rk_test_…')
    .describe('the key that Stripe is called with; it says whether real money moves'),
  STRIPE_WEBHOOK_SECRET: secret
    .transform((text) => text.split(',').map((one) => one.trim()))
    .pipe(z.array(z.string().regex(/^whsec_\S+$/, 'must be whsec_…, or two of them with a comma')).max(2))
    .describe('signs Stripe’s webhooks: `whsec_…`; during a rotation two, with a comma'),
  QUIRE_WEBHOOK_SECRET: secret
    .transform((text) => text.split(',').map((one) => one.trim()))
    .pipe(
      z.array(z.string().regex(/^whsec_\S+$/, 'must be whsec_…, or several of them with commas')).max(1_000),
    )
    .optional()
    .meta({
      description: 'secrets of the service’s webhooks that tell of low balances, with commas',
      unset: 'no top-ups',
    }),
  STRIPE_API_URL: z
    .url({ protocol: /^https?$/, error: 'must be a URL of http or https' })
    .default('https://api.stripe.com')
    .describe('Stripe’s address'),
  STRIPE_AUTOMATIC_TAX: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .default('false')
    .describe('Stripe computes the VAT of checkout pages'),
  CHECKOUT_TOKEN: z
    .string()
    .min(24, 'must have 24 characters or more')
    .optional()
    .meta({ description: 'the password of `POST /checkout`', unset: 'no checkout pages' }),
};

/** Variables of `quire watch`, which needs `QUIRE_URL` and `QUIRE_API_KEY` too; only it reads them. */
export const WATCH_VARIABLES = {
  WATCH_S3_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be a URL of http or https' })
    .default('https://s3.amazonaws.com')
    .describe('the address of the buckets'),
  WATCH_S3_ACCESS_KEY: secret.optional().describe('the name of their key'),
  WATCH_S3_SECRET_KEY: secret.optional().describe('their key'),
  WATCH_S3_REGION: secret.default('us-east-1').describe('the region that requests are signed for'),
  WATCH_IMAP_PASSWORD: secret.optional().describe('the password of the mailbox'),
};

const clientEnvironment = z.object(CLIENT_VARIABLES);

/** Which service is called, and as whom. */
export interface ClientConfig {
  readonly url: string;
  readonly key: string | undefined;
  readonly tenant: string | undefined;
}

/** What `quire watch` works with. */
export interface WatchConfig extends ClientConfig {
  readonly s3: {
    readonly endpoint: string;
    readonly accessKey: string | undefined;
    readonly secretKey: string | undefined;
    readonly region: string;
  };
  readonly imapPassword: string | undefined;
}

/** What `quire payments serve` works with. */
export interface PaymentsConfig {
  readonly url: string;
  readonly key: string;
  readonly stripeKey: string;
  readonly stripeUrl: string;
  readonly webhookSecrets: readonly string[];
  /** Of webhooks that tell of low balances; none: there are no top-ups. */
  readonly lowBalanceSecrets: readonly string[];
  /** Whether real money moves. */
  readonly isLive: boolean;
  readonly automaticTax: boolean;
  readonly checkoutToken: string | undefined;
}

type Given = Readonly<Record<string, string | undefined>>;

/** Reads variables; an empty value counts as none. Throws ConfigError. */
const read = <Shape extends z.ZodObject>(shape: Shape, env: Given): z.output<Shape> => {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const { data, error } = shape.safeParse(given);
  if (data !== undefined) return data;
  const complaints = error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`) ?? [];
  throw new ConfigError(complaints.join('\n'));
};

const paymentsEnvironment = z.object({ ...CLIENT_VARIABLES, ...PAYMENTS_VARIABLES, QUIRE_API_KEY: secret });

/** Reads what the payments process needs. Throws ConfigError. */
export const paymentsConfigFrom = (env: Given): PaymentsConfig => {
  const found = read(paymentsEnvironment, env);
  return {
    url: found.QUIRE_URL,
    key: found.QUIRE_API_KEY,
    stripeKey: found.STRIPE_SECRET_KEY,
    stripeUrl: found.STRIPE_API_URL,
    webhookSecrets: found.STRIPE_WEBHOOK_SECRET,
    lowBalanceSecrets: found.QUIRE_WEBHOOK_SECRET ?? [],
    isLive: found.STRIPE_SECRET_KEY.slice(3).startsWith('live_'),
    automaticTax: found.STRIPE_AUTOMATIC_TAX === 'true',
    checkoutToken: found.CHECKOUT_TOKEN,
  };
};

/** Reads what names another service. An empty value counts as none. Throws ConfigError. */
export const clientConfigFrom = (env: Given): ClientConfig => {
  const { QUIRE_URL: url, QUIRE_API_KEY: key, QUIRE_TENANT: tenant } = read(clientEnvironment, env);
  return { url, key, tenant };
};

const watchEnvironment = z.object({ ...CLIENT_VARIABLES, ...WATCH_VARIABLES });

/** Reads what `quire watch` needs. Throws ConfigError. */
export const watchConfigFrom = (env: Given): WatchConfig => {
  const found = read(watchEnvironment, env);
  return {
    url: found.QUIRE_URL,
    key: found.QUIRE_API_KEY,
    tenant: found.QUIRE_TENANT,
    s3: {
      endpoint: found.WATCH_S3_ENDPOINT,
      accessKey: found.WATCH_S3_ACCESS_KEY,
      secretKey: found.WATCH_S3_SECRET_KEY,
      region: found.WATCH_S3_REGION,
    },
    imapPassword: found.WATCH_IMAP_PASSWORD,
  };
};
