import { Agent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import type { Wire } from './wire.ts';

/** What came back. `cut`: we left; `closed`: the server ended the connection without an answer. */
export type Heard =
  | { readonly kind: 'answer'; readonly status: number; readonly contentType: string; readonly text: string }
  | { readonly kind: 'cut' | 'unsendable' }
  | { readonly kind: 'closed'; readonly why: string };

const agent = new Agent({ keepAlive: true, maxSockets: 16 });
const PATIENCE_MS = 120_000;

const read = (answer: IncomingMessage, tell: (heard: Heard) => void): void => {
  const chunks: Buffer[] = [];
  answer.on('data', (chunk: Buffer) => chunks.push(chunk));
  answer.on('error', (error) => tell({ kind: 'closed', why: error.message }));
  answer.on('end', () =>
    tell({
      kind: 'answer',
      status: answer.statusCode ?? 0,
      contentType: answer.headers['content-type'] ?? '',
      text: Buffer.concat(chunks).toString('utf8'),
    }),
  );
};

const opened = (url: string, { method, path, headers, body, isChunked }: Wire): ClientRequest => {
  const { hostname, port } = new URL(url);
  const isSized = body === undefined || 'content-length' in headers;
  const length = isSized ? {} : { 'content-length': String(body.length) };
  const framing = isChunked === true ? { 'transfer-encoding': 'chunked' } : length;
  return httpRequest({ hostname, port, method, path, agent, headers: { ...headers, ...framing } });
};

/** Sends as it is written; a request that Node's client refuses to write is told apart. */
export const sendWire = (url: string, wire: Wire): Promise<Heard> =>
  new Promise((tell) => {
    let sending: ClientRequest;
    try {
      sending = opened(url, wire);
    } catch {
      tell({ kind: 'unsendable' });
      return;
    }
    const isCut = wire.cutAt !== undefined;
    sending.setTimeout(PATIENCE_MS, () => sending.destroy(new Error('no answer for two minutes')));
    sending.on('response', (answer) => read(answer, tell));
    sending.on('upgrade', (_, socket) => {
      socket.destroy();
      tell({ kind: 'closed', why: 'upgraded' });
    });
    sending.on('error', (error) => tell(isCut ? { kind: 'cut' } : { kind: 'closed', why: error.message }));
    if (!isCut) {
      sending.end(wire.body);
      return;
    }
    sending.write(wire.body?.subarray(0, wire.cutAt) ?? '', () => {
      sending.destroy();
      tell({ kind: 'cut' });
    });
  });

export const stopSending = (): void => agent.destroy();
