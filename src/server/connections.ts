import {
  IncomingMessage,
  ServerResponse,
  createServer,
  STATUS_CODES,
  type ServerOptions,
  type Server,
} from 'node:http';
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Express } from 'express';
import { codeOf } from '../../domain/kernel/json.ts';
import { ConfigError } from '../clientConfig.ts';
import { statusOf } from '../problemTable.ts';
import { problem, problemBody, type Problem } from './problems.ts';
import { mayLeaveMuch, safeHeaders } from './answers.ts';

/**
 * Classes of requests and answers that are Express's from their birth. Express gives each request and each answer
 * its own prototype, and V8 treats an object whose prototype was changed as one of a kind: all that is done with
 * it is slow from then on. Where it has that prototype already, nothing is changed.
 */
export const expressMessages = (
  app: Express,
): Required<Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'>> => {
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse<Asked extends IncomingMessage> extends ServerResponse<Asked> {}
  app.request = Object.setPrototypeOf(ExpressRequest.prototype, app.request) as Express['request'];
  app.response = Object.setPrototypeOf(ExpressResponse.prototype, app.response) as Express['response'];
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
};

/** How much patience and room a connection gets. Times in ms. */
export interface ConnectionLimits {
  /** All headers of a request; a silent new connection counts as one that sends none. */
  readonly headersTimeout: number;
  /** A whole request, its body included. */
  readonly requestTimeout: number;
  /**
   * Between two requests of a connection. Longer than the 60 s for which pools and load balancers keep one: whoever
   * sends on a connection at the moment it is closed gets no answer, and cannot know whether to send again.
   */
  readonly keepAliveTimeout: number;
  /** The same, while more than half of the connections are taken. */
  readonly crowdedKeepAliveTimeout: number;
  /** How often the first two are looked at. */
  readonly connectionsCheckingInterval: number;
  /** The rest of a body after its request was answered. */
  readonly unreadTimeout: number;
  /** Connections at once, all callers together; more are closed unanswered. */
  readonly connectionsMax: number;
}

/** A client that sends slowly is cut off: headers in 10 s, a whole request in 5 min. */
const LIMITS: ConnectionLimits = {
  headersTimeout: 10_000,
  requestTimeout: 300_000,
  keepAliveTimeout: 75_000,
  crowdedKeepAliveTimeout: 5_000,
  connectionsCheckingInterval: 5_000,
  unreadTimeout: 5_000,
  connectionsMax: 10_000,
};
const HEADER_BYTES_MAX = 16_384;

/** A request that two parsers may read differently is refused. The application looks at `Host`, and says why. */
const STRICT = { insecureHTTPParser: false, requireHostHeader: false, joinDuplicateHeaders: false } as const;

export interface HttpServer {
  readonly url: string;
  /** Takes no new connection, closes idle ones, and resolves when running requests have ended. */
  close(): Promise<void>;
}

/** Connections whose request still runs are closed once it was answered, not when their patience is over. */
const AT_ONCE_MS = 1;

const closed = (server: Server): Promise<void> =>
  new Promise((resolve, reject) => {
    server.keepAliveTimeout = AT_ONCE_MS;
    server.close((error) => {
      if (error) reject(error);
      else resolve();
    });
    server.closeIdleConnections();
  });

/** An unread body continues after the answer, but not for ever. */
const boundUnread = ({ unreadTimeout }: ConnectionLimits, req: IncomingMessage, res: ServerResponse) => {
  if (!mayLeaveMuch(req.headers)) return;
  res.once('finish', () => {
    if (req.complete) return;
    const timer = setTimeout(() => req.socket.destroy(), unreadTimeout);
    for (const event of ['end', 'close', 'error']) req.once(event, () => clearTimeout(timer));
  });
};

const NOT_HTTP = problem('malformed_request', 'What came is no request of HTTP/1.1.');

/** By the codes of Node's errors; all others are `NOT_HTTP`. */
const UNREAD = new Map<string | undefined, Problem>([
  [
    'HPE_HEADER_OVERFLOW',
    problem('headers_too_large', `The headers have more than ${String(HEADER_BYTES_MAX)} bytes.`),
  ],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', problem('body_too_large', 'The extensions of a chunk are too large.')],
  ['ERR_HTTP_REQUEST_TIMEOUT', problem('request_timeout', 'The request did not come in time.')],
]);

/** A whole answer, as it goes over the connection. */
const answerOf = (failure: Problem): string => {
  const requestId = randomUUID();
  const body = JSON.stringify(problemBody(failure, requestId));
  const status = statusOf(failure.code);
  const headers = {
    ...safeHeaders(undefined),
    'Content-Type': 'application/problem+json',
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Request-Id': requestId,
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`;
};

/**
 * Answers what Node's parser makes no request of, as Node would, but with a problem. Where an answer has begun on
 * the connection, nothing is put into it.
 */
const refuseUnread = (
  { code }: NodeJS.ErrnoException,
  socket: Duplex,
  current: ServerResponse | undefined,
): void => {
  const isAnswering = current?.headersSent === true && !current.writableFinished;
  if (socket.writable && !isAnswering) socket.write(answerOf(UNREAD.get(code) ?? NOT_HTTP));
  socket.end(() => socket.destroy());
};

/**
 * An answer that waits behind others of its connection has no socket yet, and Node does not close it when the
 * connection goes: its work would never be stopped.
 */
export const closeWithConnection = (req: IncomingMessage, res: ServerResponse): void => {
  req.once('close', () => {
    if (res.socket !== null || res.closed || !req.socket.destroyed) return;
    res.destroy();
    res.emit('close');
  });
};

/** Node reads the patience of a connection at each of its requests. */
const boundIdle = (
  server: Server,
  { connectionsMax, keepAliveTimeout, crowdedKeepAliveTimeout }: ConnectionLimits,
): void => {
  let taken = 0;
  const count = (change: number): void => {
    taken += change;
    if (!server.listening) return;
    server.keepAliveTimeout = taken > connectionsMax / 2 ? crowdedKeepAliveTimeout : keepAliveTimeout;
  };
  server.on('connection', (socket) => {
    count(1);
    socket.once('close', () => count(-1));
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
    const { unreadTimeout: _, crowdedKeepAliveTimeout: __, connectionsMax, ...timeouts } = all;
    const options = { ...timeouts, ...STRICT, ...expressMessages(app), maxHeaderSize: HEADER_BYTES_MAX };
    const answers = new WeakMap<Duplex, ServerResponse>();
    const serve = (req: IncomingMessage, res: ServerResponse) => {
      answers.set(req.socket, res);
      boundUnread(all, req, res);
      closeWithConnection(req, res);
      app(req, res);
    };
    const server = createServer(options, serve).on('checkExpectation', serve);
    server.on('clientError', (error, socket) => {
      refuseUnread(error, socket, answers.get(socket));
    });
    server.maxConnections = connectionsMax;
    boundIdle(server, all);
    server.once('error', reject);
    server.listen(port, host, () => {
      const { address, family, port: bound } = server.address() as AddressInfo;
      const name = family === 'IPv6' ? `[${address}]` : address;
      resolve({ url: `http://${name}:${String(bound)}`, close: () => closed(server) });
    });
  });

/** A port that another process has is a mistake of configuration. */
export const listenOn = (
  app: Express,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<HttpServer> =>
  listen(app, { host, port }).catch((error: unknown) => {
    if (codeOf(error) !== 'EADDRINUSE') throw error;
    throw new ConfigError(
      `PORT: ${String(port)} on ${host} is in use. Stop that process, or name another port; ` +
        'each process of one machine needs its own.',
    );
  });
