import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A client that sends slowly is cut off: headers in 10 s, a whole request in 5 min. */
const TIMEOUTS = {
  headersTimeout: 10_000,
  requestTimeout: 300_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 5_000,
};
const HEADER_BYTES_MAX = 16_384;

export interface HttpServer {
  readonly url: string;
  /** Takes no new connection, closes idle ones, and resolves when running requests have ended. */
  close(): Promise<void>;
}

const closed = (server: Server): Promise<void> =>
  new Promise((resolve, reject) => {
    server.close((error) => {
      if (error) reject(error);
      else resolve();
    });
    server.closeIdleConnections();
  });

/** Listens on `host` and `port` (0: any free one). */
export const listen = (
  listener: RequestListener,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<HttpServer> =>
  new Promise((resolve, reject) => {
    const server = createServer({ ...TIMEOUTS, maxHeaderSize: HEADER_BYTES_MAX }, listener);
    server.once('error', reject);
    server.listen(port, host, () => {
      const { address, family, port: bound } = server.address() as AddressInfo;
      const name = family === 'IPv6' ? `[${address}]` : address;
      resolve({ url: `http://${name}:${String(bound)}`, close: () => closed(server) });
    });
  });
