import * as oidc from 'openid-client';
import { type IdentityFailure, type IdentityProvider, IdentityRefused } from '../domain/ports/services.ts';

interface ProviderOptions {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** A browser waits for it. */
const TIMEOUT_S = 10;

const isPlain = (issuer: string): boolean => issuer.startsWith('http://');

/** What the provider said no to, what did not hold, and what was not answered. */
const reasonOf = (error: unknown): IdentityFailure => {
  if (error instanceof oidc.AuthorizationResponseError) return 'denied';
  if (error instanceof TypeError) return 'unavailable';
  if (!(error instanceof oidc.ClientError)) return 'untrusted';
  return error.code === 'OAUTH_TIMEOUT' || error.code === 'OAUTH_RESPONSE_IS_NOT_CONFORM'
    ? 'unavailable'
    : 'untrusted';
};

/** The second part of a token that holds: what was checked of it is what its text says. */
const claimsIn = (idToken = ''): string => Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString();

const orRefused = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    throw new IdentityRefused(reasonOf(error), error);
  }
};

/** An OpenID provider that is discovered when it is first needed, and again while that fails. */
export const openIdProvider = ({ issuer, clientId, clientSecret }: ProviderOptions): IdentityProvider => {
  let known: Promise<oidc.Configuration> | undefined;

  const configuration = (): Promise<oidc.Configuration> => {
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- marked so to stand out: a provider on this machine
    const plain = isPlain(issuer) ? [oidc.allowInsecureRequests] : [];
    // The signature counts too, though the ID token comes from the provider itself.
    const execute = [oidc.enableNonRepudiationChecks, ...plain];
    const found = oidc.discovery(new URL(issuer), clientId, clientSecret, undefined, {
      execute,
      timeout: TIMEOUT_S,
    });
    found.catch(() => {
      if (known === found) known = undefined;
    });
    return found;
  };

  const begin = async (redirectUri: string) => {
    const config = await (known ??= configuration());
    const checks = {
      state: oidc.randomState(),
      nonce: oidc.randomNonce(),
      verifier: oidc.randomPKCECodeVerifier(),
    };
    const url = oidc.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: 'openid profile',
      state: checks.state,
      nonce: checks.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(checks.verifier),
      code_challenge_method: 'S256',
    });
    return { url: url.href, checks };
  };

  return {
    begin: (redirectUri) => orRefused(begin(redirectUri)),
    finish: (returned, { state, nonce, verifier }) =>
      orRefused(
        (async () => {
          const tokens = await oidc.authorizationCodeGrant(await (known ??= configuration()), returned, {
            expectedState: state,
            expectedNonce: nonce,
            pkceCodeVerifier: verifier,
            idTokenExpected: true,
          });
          return claimsIn(tokens.id_token);
        })(),
      ),
  };
};
