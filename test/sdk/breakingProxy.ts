import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** What the proxy does with one request instead of only passing it on. */
export type Fault =
  | { readonly kind: 'lose the answer' }
  /** Once the service is known to work on the request, with which it goes on. */
  | { readonly kind: 'lose the connection'; readonly when: Promise<void> }
  | { readonly kind: 'refuse the connection' }
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    };

export interface BreakingProxy {
  readonly url: string;
  /** Faults of the next requests, one each; then all are passed on. */
  readonly faults: Fault[];
  /** Idempotency keys of all requests that came, '' where there is none. */
  readonly keys: string[];
  close(): Promise<void>;
}

/** Stands in front of the service and breaks what a network breaks. */
export const breakingProxy = async (target: string): Promise<BreakingProxy> => {
  const faults: Fault[] = [];
  const keys: string[] = [];

  const passOn = (incoming: IncomingMessage, outgoing: ServerResponse, isLost: boolean) => {
    const { method = 'GET', headers, url = '/' } = incoming;
    const passed = request(`${target}${url}`, { method, headers }, (answer) => {
      if (isLost) {
        answer.resume().once('end', () => outgoing.destroy());
        return;
      }
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    passed.once('error', () => outgoing.destroy());
    incoming.pipe(passed);
  };

  const server = createServer((incoming, outgoing) => {
    keys.push(String(incoming.headers['idempotency-key'] ?? ''));
    const fault = faults.shift();
    if (fault?.kind === 'refuse the connection') outgoing.destroy();
    else if (fault?.kind === 'answer')
      incoming.resume().once('end', () => outgoing.writeHead(fault.status, fault.headers).end(fault.body));
    else if (fault?.kind === 'lose the connection') {
      passOn(incoming, outgoing, true);
      void fault.when.then(() => outgoing.destroy());
    } else passOn(incoming, outgoing, fault?.kind === 'lose the answer');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { url: `http://127.0.0.1:${String(port)}`, faults, keys, close };
};
