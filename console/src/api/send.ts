import type { QueryClient, QueryKey } from '@tanstack/react-query';
import { PATIENCE } from '../../../sdk/src/patience.ts';
import type { Connection } from '../../../sdk/src/send.ts';
import { LostConnectionError, noteAnswer } from './faults.ts';

/** Reads, by their signals, whose answer misses something that the service has written already. */
const late = new WeakSet<AbortSignal>();
/** The service itself waited a second before it answered. */
const AGAIN_MS = 1_000;

/** Notes, of an answer, that it misses something: the service says so in a header. */
const noteLate = (response: Response, signal: AbortSignal | null | undefined): void => {
  if (signal instanceof AbortSignal && response.headers.has('x-projection-lag')) late.add(signal);
};

interface Read {
  readonly client: QueryClient;
  readonly queryKey: QueryKey;
  readonly signal: AbortSignal;
}

/** Reads again soon what was answered too early, so that what was just done does not stay unseen. */
export const readAgainIfLate = ({ client, queryKey, signal }: Read): void => {
  if (!late.has(signal)) return;
  setTimeout(() => void client.invalidateQueries({ queryKey, exact: true }), AGAIN_MS);
};

const listeners = new Set<() => void>();

/** Calls a function whenever an answer says that the session is over. */
export const onSessionOver = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** Tells that an answer said so. */
const tellSessionOver = (): void => {
  for (const tell of listeners) tell();
};

/** What a request says of the session it belongs to; the session's query keeps it. */
let csrfToken: string | undefined;

/** Gives the token that requests which change something must carry; undefined: nobody is signed in. */
export const keepCsrfToken = (token: string | undefined): void => {
  csrfToken = token;
};

const SAFE = new Set(['GET', 'HEAD']);

/** Signing in and out: what is refused there says nothing of a session that was. */
const isOfSession = (address: RequestInfo | URL): boolean => {
  const url = address instanceof Request ? address.url : String(address);
  return new URL(url, globalThis.location.origin).pathname === '/v1/session';
};

/**
 * Sends a request as the session's caller: the browser adds the cookie, this the token against forged requests.
 * Anything that goes wrong on the way is one class, and the wait that an answer asks for is kept with it.
 */
const send: typeof fetch = async (input, init = {}) => {
  const headers = new Headers(init.headers);
  headers.delete('x-api-key');
  if (csrfToken !== undefined && !SAFE.has(init.method ?? 'GET')) headers.set('x-csrf-token', csrfToken);
  let response: Response;
  try {
    response = await fetch(input, { ...init, headers, credentials: 'same-origin' });
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    throw new LostConnectionError(error);
  }
  if (response.status === 401 && !isOfSession(input)) tellSessionOver();
  noteLate(response, init.signal);
  return noteAnswer(response);
};

/**
 * The service, in pages and in their workers. Nothing is repeated behind a person's back: pages show the wait and a
 * button.
 */
export const connection: Connection = {
  url: globalThis.location.origin,
  key: '',
  fetch: send,
  patience: { ...PATIENCE, attempts: 1 },
};
