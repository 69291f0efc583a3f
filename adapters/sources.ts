import { get as httpGet, type IncomingMessage, type RequestOptions } from 'node:http';
import { get as httpsGet } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { DocumentSource, SourceAddress, SourceAnswer } from '../domain/ports/services.ts';

/** How long a host may say nothing, ms. */
const SILENCE_MS = 15_000;

/** Whatever a name stands for by now, it is the addresses that were checked. */
const pinned =
  (addresses: SourceAddress['addresses']): LookupFunction =>
  (_host, options, callback) => {
    const [first] = addresses;
    if (first === undefined) callback(new Error('no address'), '');
    else if (options.all === true) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };

const unavailable = (status: number | null, detail: string): SourceAnswer => ({
  kind: 'unavailable',
  status,
  detail,
});

const refusalOf = (status: number): string =>
  status >= 300 && status < 400
    ? 'The host of source_url answers with a redirect, and none is followed: name the address that it leads to.'
    : `The host of source_url answered with status ${String(status)}.`;

/** Why an answer is not taken; undefined for one whose document comes whole or with an error. */
const flawOf = ({ statusCode: status = 0, headers }: IncomingMessage): string | undefined => {
  if (status !== 200) return refusalOf(status);
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    return 'The host of source_url sends the document in an encoding that was not asked for.';
  // Whatever came before the connection broke would look whole.
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined)
    return 'The host of source_url says neither how long the document is nor where it ends.';
  return undefined;
};

const answerOf = (response: IncomingMessage): SourceAnswer => {
  const flaw = flawOf(response);
  if (flaw !== undefined) {
    response.destroy();
    return unavailable(response.statusCode ?? 0, flaw);
  }
  const length = Number(response.headers['content-length']);
  return { kind: 'found', bytes: response, length: Number.isSafeInteger(length) ? length : undefined };
};

const AWAY = 'The host of source_url cannot be reached, or does not answer.';

/** Documents over HTTPS, each by a connection of its own. However that ends, `open` settles. */
export const httpSource = (): DocumentSource => ({
  open: ({ url, addresses }, signal) =>
    new Promise((resolve, reject) => {
      const options: RequestOptions = {
        agent: false,
        headers: { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'quire' },
        lookup: pinned(addresses),
        signal,
        timeout: SILENCE_MS,
      };
      const request = (url.protocol === 'https:' ? httpsGet : httpGet)(url, options, (response) =>
        resolve(answerOf(response)),
      );
      // An answer with 101 is no response: without this the connection would be closed without a word.
      request.once('upgrade', ({ statusCode = 101 }, socket) => {
        socket.destroy();
        resolve(unavailable(statusCode, refusalOf(statusCode)));
      });
      request.once('timeout', () => request.destroy(new Error('the host says nothing')));
      const ended = () => {
        if (signal.aborted) reject(signal.reason as Error);
        else resolve(unavailable(null, AWAY));
      };
      request.on('error', ended);
      // Last of all, whatever came before.
      request.once('close', ended);
    }),
});
