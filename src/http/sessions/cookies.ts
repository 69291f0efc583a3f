import { parse, serialize } from 'cookie';
import type { Browser } from './browser.ts';

/** How the cookies of a service are named and kept. */
export interface Cookies {
  /** Whether the browser sends a session at all, good or not. */
  has(browser: Pick<Browser, 'cookies'>): boolean;
  session(browser: Pick<Browser, 'cookies'>): string | undefined;
  /** `Set-Cookie` with a session; without one, it is taken away. */
  setSession(browser: Browser, sealed: string | undefined, maxAgeS: number): string;
  signIn(browser: Pick<Browser, 'cookies'>): string | undefined;
  /** `Set-Cookie` with a sign-in that was begun at a provider. */
  setSignIn(browser: Browser, sealed: string | undefined, maxAgeS: number): string;
}

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/i;

const SIGN_IN = 'quire_sign_in';
/** The one place that a sign-in's cookie is sent to. */
export const OIDC_CALLBACK = '/v1/session/oidc/callback';

/** `publicUrl`: where browsers reach the service, where that is said. */
export const cookiesOf = (publicUrl: string | undefined): Cookies => {
  const isHttps = publicUrl?.toLowerCase().startsWith('https://') === true;
  // With this prefix a browser takes the cookie from nobody but this host, over TLS.
  const name = isHttps ? '__Host-quire_session' : 'quire_session';
  const cookieOf = ({ cookies = '' }: Pick<Browser, 'cookies'>, wanted: string): string | undefined =>
    parse(cookies)[wanted];
  // Browsers take a Secure cookie from this machine over plain http, too.
  const secureFor = ({ host }: Browser): boolean => isHttps || LOOPBACK.test(host);

  return {
    has: (browser) => browser.cookies?.includes(`${name}=`) === true && cookieOf(browser, name) !== undefined,
    session: (browser) => cookieOf(browser, name),
    setSession: (browser, sealed = '', maxAge) =>
      serialize(name, sealed, {
        ...{ httpOnly: true, sameSite: 'strict', path: '/', maxAge },
        secure: secureFor(browser),
      }),
    signIn: (browser) => cookieOf(browser, SIGN_IN),
    // The provider's page leads back here: a strict cookie would not be sent then.
    setSignIn: (browser, sealed = '', maxAge) =>
      serialize(SIGN_IN, sealed, {
        ...{ httpOnly: true, sameSite: 'lax', path: OIDC_CALLBACK, maxAge },
        secure: secureFor(browser),
      }),
  };
};
