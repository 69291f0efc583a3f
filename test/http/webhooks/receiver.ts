import { createServer, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** A request that came, whatever it was answered. */
export interface Received {
  readonly path: string;
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

type Answer = (request: Received, response: ServerResponse) => void;

/** Somebody's server that webhooks are sent to. */
export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** How it answers from now on. */
  readonly answerWith: (answer: Answer) => void;
  readonly stop: () => Promise<void>;
}

/** Answers with a status and no more. */
export const status =
  (code: number, headers: Readonly<Record<string, string>> = {}): Answer =>
  (_request, response) =>
    response.writeHead(code, headers).end();

/** Never answers. */
export const hanging: Answer = () => undefined;

/** Starts a receiver on a free port of this machine, or on a given one. */
export const startReceiver = async (port = 0): Promise<Receiver> => {
  const received: Received[] = [];
  let answer = status(204);
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const headers = request.headers as Record<string, string>;
      const payload = JSON.parse(body) as Record<string, unknown>;
      const one = { path: request.url ?? '', id: headers['webhook-id'] ?? '', headers, body, payload };
      received.push(one);
      answer(one, response);
    });
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/quire`,
    received,
    answerWith: (next) => {
      answer = next;
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

/** Data of a message. */
export const dataOf = ({ payload }: Received): Readonly<Record<string, unknown>> =>
  payload['data'] as Readonly<Record<string, unknown>>;
