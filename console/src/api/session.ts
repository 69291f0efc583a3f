import { isProblem, type SessionResponse } from '@quire/client';
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
