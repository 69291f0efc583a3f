import { timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import { problem } from '../problems.ts';

/** What a browser says of itself and of the page that asks. */
export interface Browser {
  /** What it asks for: the path and the query. */
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
