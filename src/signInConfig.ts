import { z } from 'zod';
import { ConfigError } from './configError.ts';

const LOOPBACK = /^http:\/\/(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?:[:/]|$)/;

const issuer = z
  .string()
  .refine((url) => URL.canParse(url) && (url.startsWith('https://') || LOOPBACK.test(url)), {
    error: 'must be a URL that starts with https://, or http:// on this machine',
  });

/** A secret of 32 bytes. */
export const base64Of32 = z
  .string()
  .refine((value) => Buffer.from(value, 'base64').length === 32, { error: 'must be 32 bytes in base64' });

/** Variables of signing in with a browser. */
export const signInVariables = {
  SESSION_SECRET: base64Of32.optional(),
  OIDC_ISSUER: issuer.optional(),
  OIDC_CLIENT_ID: z.string().min(1).optional(),
  OIDC_CLIENT_SECRET: z.string().min(1).optional(),
  OIDC_TENANT_CLAIM: z.string().min(1).default('tenant'),
  OIDC_ROLE_CLAIM: z.string().min(1).default('role'),
};

type SignInVariables = z.output<z.ZodObject<typeof signInVariables>>;

/** What the service needs of an OpenID provider. */
interface OidcConfig {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The claims that name the tenant and the role. */
  readonly claims: { readonly tenant: string; readonly role: string };
}

export interface SignInConfig {
  /** undefined: by API keys alone. */
  readonly oidc: OidcConfig | undefined;
}

const NEEDED = ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'] as const;

/** Throws ConfigError where a provider is named in part. */
export const signInFrom = (given: SignInVariables): SignInConfig => {
  const missing = NEEDED.filter((name) => given[name] === undefined);
  if (missing.length === NEEDED.length) return { oidc: undefined };
  if (missing.length > 0)
    throw new ConfigError(
      `${missing.join(', ')}: missing. Signing in at a provider needs ${NEEDED.join(', ')}.`,
    );
  const { OIDC_ISSUER = '', OIDC_CLIENT_ID = '', OIDC_CLIENT_SECRET = '' } = given;
  const claims = { tenant: given.OIDC_TENANT_CLAIM, role: given.OIDC_ROLE_CLAIM };
  return {
    oidc: { issuer: OIDC_ISSUER, clientId: OIDC_CLIENT_ID, clientSecret: OIDC_CLIENT_SECRET, claims },
  };
};
