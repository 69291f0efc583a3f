import { PATIENCE } from '../../../sdk/src/patience.ts';
import type { Connection } from '../../../sdk/src/send.ts';
import { LostConnectionError, noteAnswer } from './faults.ts';
import { noteLate } from './lateReads.ts';
import { tellSessionOver } from './sessionOver.ts';

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
export const send: typeof fetch = async (input, init = {}) => {
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
