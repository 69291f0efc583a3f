import { z } from 'zod';
import { IdentityRefused, type IdentityProvider, type UsedOnce } from '../../domain/ports/services.ts';
import { tenantId } from '../../domain/kernel/amounts.ts';
import { memberTwiceIn } from './jsonBody.ts';
import { OIDC_CALLBACK, orNotReady, type Browser, type Cookies, type Sealing } from './browser.ts';
import type { SignedIn } from './keys.ts';
import type { SignInLimits } from './limits.ts';

/** The claims that say whose tenant somebody is of, and what he may do there. */
export interface OidcClaimNames {
  readonly tenant: string;
  readonly role: string;
}

interface ProviderSignInDeps {
  readonly sealing: Sealing;
  readonly used: UsedOnce;
  readonly cookies: Cookies;
  readonly limits: SignInLimits;
  readonly baseUrl: () => string;
  readonly oidc: { readonly provider: IdentityProvider; readonly claims: OidcClaimNames } | undefined;
  /** Gives the cookie of a new session. */
  readonly opened: (browser: Browser, who: SignedIn) => Promise<string>;
  /** Told why somebody was not signed in: the browser learns no more than the kind. */
  readonly onRefused: (reason: string, error: unknown) => void;
  readonly nowMs: () => number;
}

/** Where the browser goes next, and what it keeps. */
interface NextPage {
  readonly location: string;
  readonly cookies: readonly string[];
}

/** Signing in at an OpenID provider: there, and back. */
export interface ProviderSignIn {
  begin(browser: Browser, returnTo: string | undefined): Promise<NextPage>;
  /** `returned`: the address that the provider sent the browser to, from its path on. */
  finish(browser: Browser, returned: string): Promise<NextPage>;
}

const BEGUN_MS = 10 * 60_000;
const HOME = '/app/';
const OPERATOR = 'operator';
const SUBJECT_MAX = 255;

const begun = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  return_to: z.string(),
});

/** A repeated name: readers of the first and readers of the last would not read the same. */
const isSaidTwice = ({ searchParams }: URL): boolean =>
  new Set(searchParams.keys()).size !== [...searchParams.keys()].length;

/** The address of the sign-in page with what went wrong. */
export const signInPage = (problem: string): string => `/app/sign-in?problem=${problem}`;

/** A page of the console, or its first one: nobody is led elsewhere. */
const ownPage = (wanted: string | undefined): string => {
  const here = 'http://here.invalid';
  if (wanted?.startsWith('/app/') !== true || !URL.canParse(wanted, here)) return HOME;
  const { origin, pathname, search, hash } = new URL(wanted, here);
  return origin === here && pathname.startsWith('/app/') ? `${pathname}${search}${hash}` : HOME;
};

const ROLES = { admin: 'admin', member: 'tenant' } as const;

/** Events keep it as UTF-8, and logs in a line: neither takes half of a surrogate pair or a control character. */
const subject = z
  .string()
  .min(1)
  .max(SUBJECT_MAX)
  .regex(/^\P{Cc}*$/u)
  .refine((text) => Buffer.from(text).toString() === text);

/** Who the claims name; undefined where they do not say the role, or of whom. */
const whoIn = (
  claims: Readonly<Record<string, unknown>>,
  { tenant, role }: OidcClaimNames,
): SignedIn | undefined => {
  const known = z
    .object({ sub: subject, role: z.enum(['admin', 'member']) })
    .safeParse({ sub: claims['sub'], role: claims[role] }).data;
  if (known === undefined) return undefined;
  const named = tenantId.safeParse(claims[tenant]).data;
  const tenant_id = known.role === 'admin' ? (named ?? OPERATOR) : named;
  if (tenant_id === undefined) return undefined;
  return { via: 'oidc', subject: `oidc:${known.sub}`, tenant_id, role: ROLES[known.role], key_hash: null };
};

/** undefined: a claim is repeated, and readers of the first and of the last would not read the same. */
const claimsOf = async (provider: IdentityProvider, address: URL, known: z.output<typeof begun>) => {
  const json = await provider.finish(address, known);
  return memberTwiceIn(json) === undefined
    ? (JSON.parse(json) as Readonly<Record<string, unknown>>)
    : undefined;
};

export const providerSignIn = (deps: ProviderSignInDeps): ProviderSignIn => {
  const { sealing, used, cookies, limits, baseUrl, oidc, opened, onRefused, nowMs } = deps;
  const refused = (browser: Browser, reason: string, error?: unknown): NextPage => {
    onRefused(reason, error);
    return { location: signInPage(reason), cookies: [cookies.setSignIn(browser, undefined, 0)] };
  };

  /** undefined: not begun in this browser, too long ago, or finished before. */
  const begunIn = async (browser: Browser) => {
    const sealed = cookies.signIn(browser);
    const known = sealed === undefined ? undefined : await sealing.open('oidc', begun, sealed);
    if (known === undefined) return undefined;
    return (await orNotReady(used.use(`oidc ${known.state}`, nowMs() + BEGUN_MS))) ? known : undefined;
  };

  /** Why the browser is not let through at all; undefined: it is. */
  const hindrance = (browser: Browser): string | undefined => {
    if (oidc === undefined) return 'oidc_not_configured';
    return cookies.areKeptBy(browser) ? undefined : 'https_required';
  };

  const finish = async (browser: Browser, returned: string): Promise<NextPage> => {
    await limits.byReturning(browser);
    const reason = hindrance(browser);
    if (oidc === undefined || reason !== undefined) return refused(browser, reason ?? 'oidc_not_configured');
    const address = new URL(returned, baseUrl());
    if (isSaidTwice(address)) return refused(browser, 'oidc_untrusted');
    const known = await begunIn(browser);
    if (known === undefined) return refused(browser, 'oidc_not_begun');
    const claims = await claimsOf(oidc.provider, address, known);
    if (claims === undefined) return refused(browser, 'oidc_untrusted');
    const who = whoIn(claims, oidc.claims);
    if (who === undefined) return refused(browser, 'oidc_claims');
    await limits.byAccount(who.subject);
    return {
      location: known.return_to,
      cookies: [cookies.setSignIn(browser, undefined, 0), await opened(browser, who)],
    };
  };

  const begin = async (browser: Browser, returnTo: string | undefined): Promise<NextPage> => {
    await limits.byClient(browser);
    const reason = hindrance(browser);
    if (oidc === undefined || reason !== undefined) return refused(browser, reason ?? 'oidc_not_configured');
    const { url, checks } = await oidc.provider.begin(`${baseUrl()}${OIDC_CALLBACK}`);
    const facts = { ...checks, return_to: ownPage(returnTo) };
    const sealed = await sealing.seal('oidc', facts, nowMs() + BEGUN_MS);
    return { location: url, cookies: [cookies.setSignIn(browser, sealed, BEGUN_MS / 1000)] };
  };

  /** If the provider refuses or does not answer, the browser goes back to the sign-in page. */
  const orSignInPage = async (browser: Browser, work: Promise<NextPage>): Promise<NextPage> => {
    try {
      return await work;
    } catch (error) {
      if (!(error instanceof IdentityRefused)) throw error;
      return refused(browser, `oidc_${error.reason}`, error);
    }
  };

  return {
    begin: (browser, returnTo) => orSignInPage(browser, begin(browser, returnTo)),
    finish: (browser, returned) => orSignInPage(browser, finish(browser, returned)),
  };
};
