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

const NOBODY: Session = { signed_in: false, methods: ['api_key'] };

/** Who is signed in. A session that ended is nobody's. */
export const readSession = async (): Promise<Session> => {
  try {
    return noted(await api.getSession());
  } catch (error) {
    if (isProblem(error) && error.status === 401) return NOBODY;
    throw error;
  }
};

/** Signs in by a key, which is kept nowhere. */
export const signIn = async (apiKey: string): Promise<Session> =>
  noted(await api.createSession({ body: { api_key: apiKey } }));

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

/** Where signing in by the organisation's provider begins. */
export const oidcStart = (returnTo: string): string =>
  `/v1/session/oidc/start?return_to=${encodeURIComponent(returnTo)}`;
