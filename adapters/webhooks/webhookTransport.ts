import type { LookupAddress } from 'node:dns';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { WebhookAnswer, WebhookRequest, WebhookTransport } from '../../domain/ports/webhookTransport.ts';

export interface WebhookTransportOptions {
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
  ...{ error, response_status, retryAfterMs: 0 },
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

const sent = (
  { url, headers, body, signal }: WebhookRequest & { readonly url: string },
  addresses: readonly LookupAddress[],
): Promise<WebhookAnswer> =>
  new Promise((resolve) => {
    const target = new URL(url);
    const open = target.protocol === 'https:' ? httpsRequest : httpRequest;
    const options = { method: 'POST', lookup: pinned(addresses), agent: false, signal } as const;
    const length = { 'content-length': String(Buffer.byteLength(body)) };
    const request = open(target, {
      ...options,
      headers: { ...headers, ...length },
      maxHeaderSize: HEADER_BYTES_MAX,
    });
    let answer: WebhookAnswer | undefined;
    request.once('response', (response) => {
      const told = answerOf(response);
      answer = told;
      response.once('error', () => resolve(told));
      discarded(response, () => resolve(told));
    });
    // A status that came counts, also where the body has no end.
    request.once('error', () => resolve(answer ?? failed(signal.aborted ? 'timeout' : 'connection')));
    request.end(body);
  });

/** Resolves with undefined when the signal aborts first: a name server may hang. */
const unlessAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> =>
  Promise.race([
    work,
    new Promise<undefined>((resolve) =>
      signal.addEventListener('abort', () => resolve(undefined), { once: true }),
    ),
  ]);

/** Webhooks over HTTP: a connection for each message, redirects refused. */
export const webhookTransport =
  ({ addressesOf, timeoutMs = TIMEOUT_MS }: WebhookTransportOptions): WebhookTransport =>
  async (request) => {
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]);
    const resolved = addressesOf(new URL(request.url)).catch(() => 'unknown' as const);
    const addresses = await unlessAborted(resolved, signal);
    if (addresses === undefined) return failed('timeout');
    if (addresses === 'not_public') return failed('unsafe_address');
    if (addresses === 'unknown') return failed('connection');
    return sent({ ...request, signal }, addresses);
  };
