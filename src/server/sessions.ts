import { randomBytes, randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { IdentityProvider, RateLimiter, UsedOnce } from '../../domain/ports/services.ts';
import {
  digestOfKey,
  sealedSession,
  signingIn,
  type Authenticator,
  type Caller,
  type Session,
  type SignedIn,
} from './keys.ts';
import { Problem } from './problems.ts';
import {
  checkNotForeign,
  checkOwnPage,
  cookiesOf,
  orNotReady,
  type Browser,
  type Cookies,
  type Sealing,
} from './browser.ts';
import { providerSignIn, type OidcClaimNames, type ProviderSignIn } from './providerSignIn.ts';
import { signInLimits } from './limits.ts';

interface SessionDeps {
  readonly sealing: Sealing;
  readonly used: UsedOnce;
  readonly keys: Pick<Authenticator, 'authenticate' | 'authenticateHash'>;
  readonly limiter: RateLimiter;
  readonly publicUrl: string | undefined;
  readonly baseUrl: () => string;
  /** undefined: no sign-in by a provider. */
  readonly oidc: { readonly provider: IdentityProvider; readonly claims: OidcClaimNames } | undefined;
  /** What events have in the place of who signed in by a provider. */
  readonly eventName: (who: Pick<Session, 'subject' | 'tenant_id' | 'role'>) => Promise<string>;
  readonly onRefused: (reason: string, error: unknown) => void;
  readonly nowMs: () => number;
}

/** A session, and the cookie that holds it. */
interface Opened {
  readonly session: Session;
  readonly cookie: string;
}

/** People who are signed in by a browser. */
export interface Sessions {
  readonly methods: readonly ('api_key' | 'oidc')[];
  /** Where browsers reach the service; undefined: at any of its addresses that is this machine's, or https. */
  readonly publicUrl: string | undefined;
  /** Whether the request comes with a session, good or not. */
  isSentBy(browser: Browser): boolean;
  /** The session of a request; undefined: none, or none that holds. */
  of(browser: Browser): Promise<Session | undefined>;
  /** The actor. Throws 401 `session_expired`, and 403 if another page asks for a change. */
  callerOf(browser: Browser, request: { readonly changes: boolean }): Promise<Caller>;
  openByKey(browser: Browser, key: string): Promise<Opened>;
  /** If it opens nothing, the problem for the sign-in page: the link was followed before or is too old, for one. */
  openByLink(browser: Browser, token: string): Promise<Opened | 'link_used' | 'https_required'>;
  /** A link that signs an admin in, once. It stands for the key where one is given. */
  newLink(key: string | undefined): Promise<string>;
  readonly byProvider: ProviderSignIn;
  /** From now on the session and its copies open nothing; gives the cookie that clears it. */
  end(browser: Browser, session: Session | undefined): Promise<string>;
}

const MINUTE_MS = 60_000;
/** A working day: also of a session by a provider, whose ID token says only until when it is accepted here. */
const SESSION_MS = 8 * 60 * MINUTE_MS;
const LINK_MS = 15 * MINUTE_MS;

/** The actor of a link without a key: the operator, who may open the socket. */
const BY_LINK: SignedIn = {
  via: 'link',
  subject: 'sign_in_link',
  tenant_id: 'operator',
  role: 'admin',
  key_hash: null,
};

const sealedLink = z.object({ link_id: z.uuid(), key_hash: z.string().nullable() });

const expired = (): Problem =>
  new Problem('session_expired', {
    detail: 'The session has ended: sign in again.',
    headers: { 'WWW-Authenticate': 'ApiKey' },
  });

const wordOf = ({ session_id }: Session): string => `session ${session_id}`;

/** Opening and ending sessions, for every way to sign in. */
const sessionBook = ({ sealing, used, keys, nowMs }: SessionDeps, cookies: Cookies) => {
  /** As its key is now. undefined: the key opens nothing any more. */
  const underKey = async (session: Session): Promise<Session | undefined> => {
    if (session.key_hash === null) return session;
    try {
      return { ...session, ...signingIn(await keys.authenticateHash(session.key_hash)) };
    } catch (error) {
      if (error instanceof Problem && error.code === 'invalid_api_key') return undefined;
      throw error;
    }
  };

  return {
    opened: async (browser: Browser, who: SignedIn): Promise<Opened> => {
      const endsAt = nowMs() + SESSION_MS;
      const session: Session = {
        ...who,
        session_id: randomUUID(),
        csrf_token: randomBytes(24).toString('base64url'),
        expires_at: new Date(endsAt).toISOString(),
      };
      const sealed = await sealing.seal('session', session, endsAt);
      return { session, cookie: cookies.setSession(browser, sealed, SESSION_MS / 1000) };
    },
    of: async (browser: Browser): Promise<Session | undefined> => {
      const sealed = cookies.session(browser);
      const session = sealed && (await sealing.open('session', sealedSession, sealed));
      if (session === undefined || session === '') return undefined;
      if (await orNotReady(used.isUsed(wordOf(session)))) return undefined;
      return underKey(session);
    },
    end: async (browser: Browser, session: Session | undefined): Promise<string> => {
      if (session !== undefined) await orNotReady(used.use(wordOf(session), Date.parse(session.expires_at)));
      return cookies.setSession(browser, undefined, 0);
    },
  };
};

/** Sessions of browsers, sealed in a cookie; `used` knows those that ended early. */
export const sessionsOver = (deps: SessionDeps): Sessions => {
  const { sealing, used, keys, limiter, publicUrl, oidc, nowMs } = deps;
  const cookies = cookiesOf(publicUrl);
  const limits = signInLimits(limiter);
  const { opened, of, end } = sessionBook(deps, cookies);

  const byHash = async (key_hash: string): Promise<SignedIn> => {
    const caller = await keys.authenticateHash(key_hash);
    return { via: 'link', subject: caller.key_id, ...signingIn(caller), key_hash };
  };

  return {
    methods: oidc === undefined ? ['api_key'] : ['api_key', 'oidc'],
    publicUrl,
    isSentBy: (browser) => cookies.has(browser),
    of,
    end,
    callerOf: async (browser, { changes }) => {
      const session = await of(browser);
      if (session === undefined) throw expired();
      if (changes) checkOwnPage(browser, { publicUrl, csrfToken: session.csrf_token });
      const { subject, tenant_id, role } = session;
      // Events record only changes.
      const isNamed = changes && session.via === 'oidc';
      const key_id = isNamed ? await orNotReady(deps.eventName(session)) : subject;
      return { key_id, tenant_id, role, session };
    },
    openByKey: async (browser, key) => {
      checkNotForeign(browser, publicUrl);
      cookies.checkKept(browser);
      await limits.byClient(browser);
      const caller = await keys.authenticate(key);
      await limits.byAccount(caller.key_id);
      const who = signingIn(caller);
      return opened(browser, { via: 'api_key', subject: caller.key_id, ...who, key_hash: digestOfKey(key) });
    },
    openByLink: async (browser, token) => {
      await limits.byClient(browser);
      if (!cookies.areKeptBy(browser)) return 'https_required';
      const link = await sealing.open('link', sealedLink, token);
      if (link === undefined) return 'link_used';
      const isFirst = await orNotReady(used.use(`link ${link.link_id}`, nowMs() + LINK_MS));
      if (!isFirst) return 'link_used';
      return opened(browser, link.key_hash === null ? BY_LINK : await byHash(link.key_hash));
    },
    newLink: async (key) => {
      const key_hash = key === undefined ? null : digestOfKey(key);
      const token = await sealing.seal('link', { link_id: randomUUID(), key_hash }, nowMs() + LINK_MS);
      return `${deps.baseUrl()}/v1/session/link?token=${token}`;
    },
    byProvider: providerSignIn({
      ...deps,
      cookies,
      limits,
      opened: async (...who) => (await opened(...who)).cookie,
    }),
  };
};
