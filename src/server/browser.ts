import { timingSafeEqual, hkdfSync } from 'node:crypto';
import type { Request } from 'express';
import { EncryptJWT, errors, jwtDecrypt } from 'jose';
import type { z } from 'zod';
import { parse, serialize } from 'cookie';
import { problem, retryLater, type Problem } from './problems.ts';

/** What a browser says about itself and the requesting page. */
export interface Browser {
  /** The requested path and query. */
  readonly path: string;
  readonly cookies: string | undefined;
  readonly host: string;
  /** Of the connection; behind a proxy that is trusted, the one that it names. */
  readonly address: string;
  /** Whether a proxy that is trusted says that the browser came by https. */
  readonly isHttps: boolean;
  readonly origin: string | undefined;
  readonly fetchSite: string | undefined;
  readonly csrfToken: string | undefined;
}

const one = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header;

export const browserOf = ({ url, headers, ip = '', secure }: Request): Browser => ({
  path: url,
  cookies: headers.cookie,
  host: headers.host ?? '',
  address: ip,
  isHttps: secure,
  origin: headers.origin,
  fetchSite: one(headers['sec-fetch-site']),
  csrfToken: one(headers['x-csrf-token']),
});

const originOf = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).origin : undefined);

/** By the page's origin where the browser says it; else by what it says of the page's site. */
const isOwnPage = ({ origin, fetchSite, host }: Browser, publicUrl: string | undefined): boolean => {
  if (origin === undefined) return fetchSite === 'same-origin';
  const own = [originOf(publicUrl ?? ''), `http://${host}`, `https://${host}`];
  return own.includes(origin.toLowerCase()) || own.includes(origin);
};

const sameText = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

const refusal = () =>
  problem(
    'cross_site_request',
    'With a session, what changes something needs the header X-CSRF-Token and a page of this service.',
  );

/** 403 unless a page of this service asks, and knows the session's token. */
export const checkOwnPage = (
  browser: Browser,
  { publicUrl, csrfToken }: { readonly publicUrl: string | undefined; readonly csrfToken: string },
): void => {
  const sent = browser.csrfToken ?? '';
  // Compared as bytes: a header is latin-1, and its length in UTF-8 may be another.
  if (!isOwnPage(browser, publicUrl) || Buffer.byteLength(sent) !== sent.length || !sameText(sent, csrfToken))
    throw refusal();
};

/** 403 for a page elsewhere that would sign its visitors in here. Programs send no origin. */
export const checkNotForeign = (browser: Browser, publicUrl: string | undefined): void => {
  const { origin, fetchSite } = browser;
  if (origin === undefined && (fetchSite === undefined || fetchSite === 'none')) return;
  if (!isOwnPage(browser, publicUrl))
    throw problem('cross_site_request', 'A page of another site cannot sign anybody in.');
};

/** The purpose of a sealed text: one that was sealed for another purpose does not open. */
type Purpose = 'session' | 'link' | 'oidc';

/** Texts that only this service can read or make, each with an end. */
export interface Sealing {
  seal(purpose: Purpose, facts: Readonly<Record<string, unknown>>, endsAtMs: number): Promise<string>;
  /** undefined: tampered with, sealed with another key or for something else, or past its end. */
  open<Schema extends z.ZodType>(
    purpose: Purpose,
    schema: Schema,
    sealed: string,
  ): Promise<z.output<Schema> | undefined>;
}

/** If the memory cannot be asked, a session may have been ended, so it opens nothing. */
export const orNotReady = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch {
    throw retryLater('not_ready', 'Sessions cannot be looked up right now.');
  }
};

/** Longer than any that is sealed here; what browsers keep of a cookie. */
const SEALED_MAX = 4_096;
const ALGORITHMS = { alg: 'dir', enc: 'A256GCM' } as const;

const seconds = (ms: number): number => Math.floor(ms / 1000);

/**
 * The key of what is sealed: by the secret, and by the memory of what was ended. A lost memory makes everything
 * sealed by it unusable. 503 while `epoch` is unknown; it is asked again then.
 */
export const sealingKey = (secret: Uint8Array, epoch: () => Promise<string>): (() => Promise<Uint8Array>) => {
  let known: Uint8Array | undefined;
  return async () =>
    (known ??= new Uint8Array(hkdfSync('sha256', secret, await orNotReady(epoch()), 'sessions', 32)));
};

/** JSON Web Encryption under one key of 32 bytes. */
export const sealingWith = (key: () => Promise<Uint8Array>, nowMs: () => number): Sealing => {
  const decrypted = async (purpose: Purpose, sealed: string) => {
    const secret = await key();
    try {
      const { payload } = await jwtDecrypt(sealed, secret, {
        audience: purpose,
        currentDate: new Date(nowMs()),
        requiredClaims: ['exp'],
        keyManagementAlgorithms: [ALGORITHMS.alg],
        contentEncryptionAlgorithms: [ALGORITHMS.enc],
      });
      return payload;
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof TypeError) return undefined;
      throw error;
    }
  };

  return {
    seal: async (purpose, facts, endsAtMs) =>
      new EncryptJWT({ facts })
        .setProtectedHeader(ALGORITHMS)
        .setAudience(purpose)
        .setExpirationTime(seconds(endsAtMs))
        .encrypt(await key()),
    open: async (purpose, schema, sealed) => {
      if (sealed.length > SEALED_MAX) return undefined;
      const payload = await decrypted(purpose, sealed);
      return payload === undefined ? undefined : schema.safeParse(payload['facts']).data;
    },
  };
};

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
    // Not every browser takes a Secure cookie from this machine over plain http: there, and if configured.
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
