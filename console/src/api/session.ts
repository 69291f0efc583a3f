import { isProblem, type SessionResponse } from '@quire/client';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { createContext, use } from 'react';
import { api } from './connection.ts';
import { keepCsrfToken } from './send.ts';

export type Session = SessionResponse;

/** Somebody who signed in. */
export type SignedIn = Extract<Session, { readonly signed_in: true }>;

const noted = (session: Session): Session => {
  keepCsrfToken(session.signed_in ? session.csrf_token : undefined);
  return session;
};

const NOBODY: Session = { signed_in: false, methods: ['api_key'], public_url: null };

/** Who is signed in. A session that ended is nobody's. */
export const readSession = async (): Promise<Session> => {
  try {
    return noted(await api.getSession());
  } catch (error) {
    if (isProblem(error) && error.status === 401) return NOBODY;
    throw error;
  }
};

/** The browser did not keep the cookie that it was given. */
export class SessionNotKeptError extends Error {
  override readonly name = 'SessionNotKeptError';
}

/** Signs in by a key, which is kept nowhere. Throws SessionNotKeptError where the browser keeps no session either. */
export const signIn = async (apiKey: string): Promise<Session> => {
  await api.createSession({ body: { api_key: apiKey } });
  const session = await readSession();
  if (!session.signed_in) throw new SessionNotKeptError();
  return session;
};

/** Ends the session on the server; one that ended already is over as well. */
export const signOut = async (): Promise<void> => {
  try {
    await api.endSession();
  } catch (error) {
    if (!isProblem(error) || error.status !== 401) throw error;
  }
  keepCsrfToken(undefined);
  // the next person at this window may be another
  sessionStorage.clear();
};

const THIS_MACHINE = /^(?:(?:[\w-]+\.)*localhost|127\.\d+\.\d+\.\d+|\[::1\])$/i;

/**
 * What is missing for signing in at this page's address: `https` where nothing is said of where browsers reach the
 * service, `address` where it is another one. undefined: nothing.
 */
export const missingHere = (session: Session | undefined): 'https' | 'address' | undefined => {
  const { protocol, hostname } = globalThis.location;
  if (session?.signed_in !== false || protocol === 'https:' || THIS_MACHINE.test(hostname)) return undefined;
  if (session.public_url === null) return 'https';
  return session.public_url.toLowerCase().startsWith('https:') ? 'address' : undefined;
};

/** Where signing in by the organisation's provider begins. */
export const oidcStart = (returnTo: string): string =>
  `/v1/session/oidc/start?return_to=${encodeURIComponent(returnTo)}`;

/** Reads the session; kept until somebody signs in or out, or an answer says that it is over. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: readSession,
  staleTime: Infinity,
});

/** The session as it is loaded, signed in or not. */
export const useSessionQuery = () => useQuery(sessionQuery);

/** The session and the tenant that pages are about. */
interface Acting {
  readonly session: SignedIn;
  /** A tenant's own; an operator's choice, undefined until one is chosen. */
  readonly tenantId: string | undefined;
  readonly chooseTenant: (tenantId: string | undefined) => void;
  /** It is not known yet whether there is one to choose. */
  readonly isChoosing: boolean;
}

export const ActingContext = createContext<Acting | undefined>(undefined);

/** Who is signed in, and the tenant that is acted for. */
export const useActing = (): Acting => {
  const acting = use(ActingContext);
  if (acting === undefined) throw new Error('this page is shown to nobody who is not signed in');
  return acting;
};

/** The tenant of a page inside of `ForTenant`, which asks operators to choose one first. */
export const useTenantId = (): string => {
  const { tenantId } = useActing();
  if (tenantId === undefined) throw new Error('this page stands inside of ForTenant');
  return tenantId;
};
