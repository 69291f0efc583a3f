import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Express } from 'express';
import { expressMessages } from './expressMessages.ts';
import { mayLeaveMuch } from './refuseBody.ts';

/** How much patience and room a connection gets. Times in ms. */
export interface ConnectionLimits {
  /** All headers of a request; a silent new connection counts as one that sends none. */
  readonly headersTimeout: number;
  /** A whole request, its body included. */
  readonly requestTimeout: number;
  /** Between two requests of a connection. */
  readonly keepAliveTimeout: number;
  /** How often the first two are looked at. */
  readonly connectionsCheckingInterval: number;
  /** What is left of a body after its request was answered. */
  readonly unreadTimeout: number;
  /** Connections at once, all callers together; more are closed unanswered. */
  readonly connectionsMax: number;
}

/** A client that sends slowly is cut off: headers in 10 s, a whole request in 5 min. */
const LIMITS: ConnectionLimits = {
  headersTimeout: 10_000,
  requestTimeout: 300_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 5_000,
  unreadTimeout: 5_000,
  connectionsMax: 10_000,
};
const HEADER_BYTES_MAX = 16_384;

/** Said although they are the defaults: a request that two parsers may read differently is refused. */
const STRICT = { insecureHTTPParser: false, requireHostHeader: true, joinDuplicateHeaders: false } as const;

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

/** A body that nobody asked for goes on after the answer: not for ever. */
const boundUnread = ({ unreadTimeout }: ConnectionLimits, req: IncomingMessage, res: ServerResponse) => {
  if (!mayLeaveMuch(req.headers)) return;
  res.once('finish', () => {
    if (req.complete) return;
    const timer = setTimeout(() => req.socket.destroy(), unreadTimeout);
    for (const event of ['end', 'close', 'error']) req.once(event, () => clearTimeout(timer));
  });
};

/** Serves the application on `host` and `port` (0: any free one). `limits` are for specs, which have less patience. */
export const listen = (
  app: Express,
  { host, port }: { readonly host: string; readonly port: number },
  limits: Partial<ConnectionLimits> = {},
): Promise<HttpServer> =>
  new Promise((resolve, reject) => {
    const all = { ...LIMITS, ...limits };
    const { unreadTimeout: _, connectionsMax, ...timeouts } = all;
    const options = { ...timeouts, ...STRICT, ...expressMessages(app), maxHeaderSize: HEADER_BYTES_MAX };
    const server = createServer(options, (req, res) => {
      boundUnread(all, req, res);
      app(req, res);
    });
    server.maxConnections = connectionsMax;
    server.once('error', reject);
    server.listen(port, host, () => {
      const { address, family, port: bound } = server.address() as AddressInfo;
      const name = family === 'IPv6' ? `[${address}]` : address;
      resolve({ url: `http://${name}:${String(bound)}`, close: () => closed(server) });
    });
  });
