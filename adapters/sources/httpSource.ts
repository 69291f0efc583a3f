import { get as httpGet, type IncomingMessage, type RequestOptions } from 'node:http';
import { get as httpsGet } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { DocumentSource, SourceAddress, SourceAnswer } from '../../domain/ports/documentSource.ts';

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

const answerOf = (response: IncomingMessage): SourceAnswer => {
  const { statusCode: status = 0, headers } = response;
  const encoding = headers['content-encoding'] ?? 'identity';
  if (status === 200 && encoding === 'identity') {
    const length = Number(headers['content-length']);
    return { kind: 'found', bytes: response, length: Number.isSafeInteger(length) ? length : undefined };
  }
  response.destroy();
  if (status !== 200) return unavailable(status, refusalOf(status));
  return unavailable(
    status,
    'The host of source_url sends the document in an encoding that was not asked for.',
  );
};

/** Documents over HTTPS, each by a connection of its own. */
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
      request.once('timeout', () => request.destroy(new Error('the host says nothing')));
      request.on('error', () => {
        if (signal.aborted) reject(signal.reason as Error);
        else resolve(unavailable(null, 'The host of source_url cannot be reached, or does not answer.'));
      });
    }),
});
