import { parse, serialize } from 'cookie';
import { problem, type Problem } from '../problems.ts';
import type { Browser } from './browser.ts';

/** How the cookies of a service are named and kept. */
export interface Cookies {
  /** Whether the browser sends a session at all, good or not. */
  has(browser: Pick<Browser, 'cookies'>): boolean;
  session(browser: Pick<Browser, 'cookies'>): string | undefined;
  /** Whether the browser would keep a session: over plain http only on this machine, or where the operator says so. */
  areKeptBy(browser: Browser): boolean;
  /** 403 `https_required` where it would not. */
  checkKept(browser: Browser): void;
  /** `Set-Cookie` with a session; without one, it is taken away. */
  setSession(browser: Browser, sealed: string | undefined, maxAgeS: number): string;
  signIn(browser: Pick<Browser, 'cookies'>): string | undefined;
  /** `Set-Cookie` with a sign-in that was begun at a provider. */
  setSignIn(browser: Browser, sealed: string | undefined, maxAgeS: number): string;
}

const LOOPBACK = /^(?:(?:[\w-]+\.)*localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/i;

/** A browser takes a cookie of such a name from nobody but this host, over TLS, for all of its paths. */
const BOUND = '__Host-';
const SESSION = 'quire_session';
const SIGN_IN = 'quire_sign_in';
/** The one place that a sign-in's cookie is sent to. */
export const OIDC_CALLBACK = '/v1/session/oidc/callback';

/** How a cookie is kept: bound to the host and to https, in plain, or not at all. */
type Keeping = 'bound' | 'plain' | 'none';

/** `publicUrl`: where browsers reach the service, where that is said. */
const keepingFor =
  (publicUrl: string | undefined) =>
  ({ host, origin, isHttps }: Browser): Keeping => {
    const isPageHttps = origin?.toLowerCase().startsWith('https://');
    // Browsers that take a bound cookie from this machine over plain http may have it.
    if (publicUrl?.toLowerCase().startsWith('https://') === true)
      return isPageHttps === false && !LOOPBACK.test(host) ? 'none' : 'bound';
    if (isHttps || isPageHttps === true) return 'bound';
    // Not every browser takes a Secure cookie from this machine over plain http: there, and where it is wanted so.
    return LOOPBACK.test(host) || publicUrl !== undefined ? 'plain' : 'none';
  };

const notKept = (publicUrl: string | undefined): Problem =>
  problem(
    'https_required',
    publicUrl === undefined
      ? 'Over plain http a session can be read on its way. Reach the service by https, or set PUBLIC_URL to the ' +
          'address that browsers see, with http:// where that is wanted.'
      : `This page came over plain http, where browsers keep no session: open ${publicUrl} instead.`,
  );

/** `publicUrl`: where browsers reach the service, where that is said. */
export const cookiesOf = (publicUrl: string | undefined): Cookies => {
  const keeping = keepingFor(publicUrl);
  const isBoundOnly = publicUrl?.toLowerCase().startsWith('https://') === true;
  const cookieOf = ({ cookies = '' }: Pick<Browser, 'cookies'>, name: string): string | undefined => {
    const all = parse(cookies);
    return all[BOUND + name] ?? (isBoundOnly ? undefined : all[name]);
  };
  const setCookie = (browser: Browser, name: string, { value = '', sameSite, maxAge, path }: Setting) =>
    keeping(browser) === 'bound'
      ? serialize(BOUND + name, value, { httpOnly: true, sameSite, maxAge, path: '/', secure: true })
      : serialize(name, value, { httpOnly: true, sameSite, maxAge, path, secure: false });

  return {
    has: (browser) =>
      browser.cookies?.includes(`${SESSION}=`) === true && cookieOf(browser, SESSION) !== undefined,
    session: (browser) => cookieOf(browser, SESSION),
    areKeptBy: (browser) => keeping(browser) !== 'none',
    checkKept: (browser) => {
      if (keeping(browser) === 'none') throw notKept(publicUrl);
    },
    setSession: (browser, value, maxAge) =>
      setCookie(browser, SESSION, { value, sameSite: 'strict', maxAge, path: '/' }),
    signIn: (browser) => cookieOf(browser, SIGN_IN),
    // The provider's page leads back here: a strict cookie would not be sent then.
    setSignIn: (browser, value, maxAge) =>
      setCookie(browser, SIGN_IN, { value, sameSite: 'lax', maxAge, path: OIDC_CALLBACK }),
  };
};

interface Setting {
  readonly value: string | undefined;
  readonly sameSite: 'strict' | 'lax';
  /** Seconds. */
  readonly maxAge: number;
  /** Of a cookie that is not bound: one that is has all paths. */
  readonly path: string;
}
