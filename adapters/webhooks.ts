import type { LookupAddress } from 'node:dns';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { WebhookAnswer, WebhookRequest, WebhookTransport } from '../domain/ports/services.ts';

interface WebhookTransportOptions {
  /** The addresses of a URL's host, where each of them may be connected with. */
  readonly addressesOf: (url: URL) => Promise<readonly LookupAddress[] | 'unknown' | 'not_public'>;
  /** From the first byte sent to the last one read, ms. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 15_000;
/** Of an answer's body nothing is kept; more than this is not even read. */
const ANSWER_BYTES_MAX = 4 * 1024;
/** Beyond this a receiver's headers are refused. */
const HEADER_BYTES_MAX = 16 * 1024;
const DAY_MS = 86_400_000;

/** Whatever the name stands for by now, the connection goes to the addresses that were checked. */
const pinned =
  (addresses: readonly LookupAddress[]): LookupFunction =>
  (_host, options, callback) => {
    const [first] = addresses;
    if (first === undefined) callback(new Error('no address'), '');
    else if (options.all === true) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };

const failed = (error: WebhookAnswer['error'], response_status: number | null = null): WebhookAnswer => ({
  error,
  response_status,
  retryAfterMs: 0,
});

const SECONDS = /^\d{1,6}$/;

/** In seconds; a date is not worth trusting a stranger's clock for. */
const retryAfterMs = (header: string | undefined): number =>
  header !== undefined && SECONDS.test(header) ? Math.min(DAY_MS, Number(header) * 1000) : 0;

const answerOf = ({ statusCode = 0, headers }: IncomingMessage): WebhookAnswer => {
  if (statusCode >= 200 && statusCode < 300) return failed(null, statusCode);
  if (statusCode >= 300 && statusCode < 400) return failed('redirect', statusCode);
  return { ...failed('status', statusCode), retryAfterMs: retryAfterMs(headers['retry-after']) };
};

/** Reads a little of the body, so that a receiver may write one; the status alone counts. */
const discarded = (response: IncomingMessage, done: () => void): void => {
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) response.destroy();
  });
  response.once('close', done);
};

/** Whatever the receiver does, it ends: with what was told until then, at the latest when the signal aborts. */
const sent = (
  { url, headers, body, signal }: WebhookRequest & { readonly url: string },
  addresses: readonly LookupAddress[],
): Promise<WebhookAnswer> =>
  new Promise((resolve) => {
    const target = new URL(url);
    const open = target.protocol === 'https:' ? httpsRequest : httpRequest;
    const length = { 'content-length': String(Buffer.byteLength(body)) };
    const request = open(target, {
      method: 'POST',
      lookup: pinned(addresses),
      agent: false,
      headers: { ...headers, ...length },
      maxHeaderSize: HEADER_BYTES_MAX,
    });
    let answer: WebhookAnswer | undefined;
    const end = (): void => {
      signal.removeEventListener('abort', end);
      // A status that came counts, also where the body has no end.
      resolve(answer ?? failed(signal.aborted ? 'timeout' : 'connection'));
      request.destroy();
    };
    request.once('response', (response) => {
      answer = answerOf(response);
      response.on('error', end);
      discarded(response, end);
    });
    // Another protocol is not spoken here. The socket is no longer the request's then.
    request.once('upgrade', (response, socket) => {
      answer = failed('status', response.statusCode);
      socket.destroy();
      end();
    });
    request.on('error', end);
    request.once('close', end);
    signal.addEventListener('abort', end);
    request.end(body);
  });

/** undefined as soon as the signal aborts: a name server may hang. */
const unlessAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> => {
  let left: () => void = () => undefined;
  const aborted = new Promise<undefined>((resolve) => {
    left = () => resolve(undefined);
    signal.addEventListener('abort', left);
  });
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', left));
};

/** A signal that aborts after so long, or with another one. Nothing but `done` keeps it from that. */
const limitedBy = (outer: AbortSignal, timeoutMs: number) => {
  const limit = new AbortController();
  const abort = (): void => limit.abort();
  const timer = setTimeout(abort, timeoutMs);
  outer.addEventListener('abort', abort);
  return {
    signal: limit.signal,
    done: (): void => {
      clearTimeout(timer);
      outer.removeEventListener('abort', abort);
    },
  };
};

/** Webhooks over HTTP: a connection for each message, redirects refused. */
export const webhookTransport =
  ({ addressesOf, timeoutMs = TIMEOUT_MS }: WebhookTransportOptions): WebhookTransport =>
  async (request) => {
    if (request.signal.aborted) return failed('timeout');
    const { signal, done } = limitedBy(request.signal, timeoutMs);
    try {
      const resolved = addressesOf(new URL(request.url)).catch(() => 'unknown' as const);
      const addresses = await unlessAborted(resolved, signal);
      if (addresses === undefined || signal.aborted) return failed('timeout');
      if (addresses === 'not_public') return failed('unsafe_address');
      if (addresses === 'unknown') return failed('connection');
      return await sent({ ...request, signal }, addresses);
    } finally {
      done();
    }
  };
