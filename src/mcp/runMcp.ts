import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { LRUCache } from 'lru-cache';
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  type McpServer,
  originValidationResponse,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { heavySlots } from '../commands/slots.ts';
import { asProblem } from '../server/app.ts';
import { readJson } from '../server/jsonBody.ts';
import { endUnread, sendPieces } from '../server/answers.ts';
import { closeWithConnection } from '../server/connections.ts';
import { statusOf } from '../problemTable.ts';
import { isProblem, Quire } from '../../sdk/src/index.ts';
import type { ClientConfig } from '../clientConfig.ts';
import { OperatorError } from '../clientConfig.ts';
import { mcpServer, ToolError } from './mcpServer.ts';

/** The service's answer about a key; `busy`: too many keys are being checked at this moment. */
export type KeyVerdict = 'good' | 'wrong' | 'away' | 'busy';

/** Keys that are asked about at once. */
const ASKED_MAX = 32;
const REMEMBERED_MAX = 10_000;
/** How long an answer counts, ms. A revoked key opens no more than this door: the service asks again at each call. */
const KEPT_MS = { good: 60_000, wrong: 5_000 } as const;

const digestOf = (key: string): string => createHash('sha256').update(key).digest('base64');

/** Asks about a key once, however many requests send it, and remembers the answer. `ask` never rejects. */
export const callerKeys = (ask: (key: string) => Promise<Exclude<KeyVerdict, 'busy'>>) => {
  const known = new LRUCache<string, 'good' | 'wrong'>({ max: REMEMBERED_MAX });
  const asked = new Map<string, Promise<KeyVerdict>>();

  const asking = async (digest: string, key: string): Promise<KeyVerdict> => {
    const verdict = await ask(key);
    asked.delete(digest);
    if (verdict !== 'away') known.set(digest, verdict, { ttl: KEPT_MS[verdict] });
    return verdict;
  };

  return (key: string): Promise<KeyVerdict> => {
    const digest = digestOf(key);
    const before = known.get(digest);
    if (before !== undefined) return Promise.resolve(before);
    const running = asked.get(digest);
    if (running !== undefined) return running;
    if (asked.size >= ASKED_MAX) return Promise.resolve('busy');
    const verdict = asking(digest, key);
    asked.set(digest, verdict);
    return verdict;
  };
};

/** How much patience and room callers get. Times in ms. */
const CONNECTIONS = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: 16_384,
} as const;
const CONNECTIONS_MAX = 1_000;
/** Requests at once, shared by the keys that send them. */
const EXCHANGES_MAX = 32;
/** The longest work on a document takes 300 s. */
const EXCHANGE_MS = 330_000;

interface HttpPlace {
  readonly host: string;
  readonly port: number;
}

/** What callers are served by. */
interface Serving {
  /** The tools for a key; the signal aborts when the caller has left. */
  readonly serverFor: (key: string, signal: AbortSignal) => McpServer;
  readonly verdictOf: (key: string) => Promise<KeyVerdict>;
}

export interface McpOverHttp {
  readonly url: string;
  close(): Promise<void>;
}

const PATH = '/mcp';
const BEARER = /^Bearer (\S+)$/i;

/** The caller's Quire key: every caller works with its own. */
const keyOf = ({ headers }: Request): string | undefined =>
  headers.get('x-api-key') ?? BEARER.exec(headers.get('authorization') ?? '')?.[1];

/** The request without its body, at the one address that is served. */
const requestOf = ({ headers: given }: IncomingMessage, url: string, signal: AbortSignal): Request => {
  const headers = new Headers();
  for (const [name, value = ''] of Object.entries(given)) headers.set(name, String(value));
  return new Request(url, { method: 'POST', headers, signal });
};

const refusal = (status: number, error: string, headers: Readonly<Record<string, string>> = {}): Response =>
  Response.json({ error }, { status, headers });

const AGAIN = { 'retry-after': '1' };

const BY_VERDICT: Readonly<Record<Exclude<KeyVerdict, 'good'>, Response>> = {
  wrong: refusal(401, 'The key opens nothing.', { 'www-authenticate': 'Bearer' }),
  away: refusal(503, 'The service does not answer.', AGAIN),
  busy: refusal(503, 'Too many keys are looked at. Try again in a moment.', AGAIN),
};

const BATCH = { code: -32600, message: 'Batches are not served: send one message a request.' };

const isLoopback = (host: string): boolean => ['127.0.0.1', '::1', 'localhost'].includes(host);

const strangerIn = (request: Request): Response | undefined =>
  hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
  originValidationResponse(request, localhostAllowedOrigins());

/** The answer to a request whatever its key, as far as its first line decides. */
const misplaced = ({ method, url = '' }: IncomingMessage): Response | undefined => {
  if (url.split('?')[0] !== PATH) return refusal(404, `Only ${PATH} is served.`);
  return method === 'POST' ? undefined : refusal(405, 'Only POST is served.', { allow: 'POST' });
};

/** Whatever of the body is left is not waited for. */
const refuse = async (incoming: IncomingMessage, outgoing: ServerResponse, said: Response): Promise<void> => {
  outgoing.statusCode = said.status;
  outgoing.setHeaders(said.headers);
  // A caller that waits to be told to go on may send its body, or not.
  if (incoming.headers.expect !== undefined) outgoing.setHeader('connection', 'close');
  endUnread(incoming, outgoing, await said.text());
};

const send = async (outgoing: ServerResponse, { status, headers, body }: Response): Promise<void> => {
  outgoing.writeHead(status, Object.fromEntries(headers));
  if (body === null) outgoing.end();
  else await sendPieces(outgoing, Readable.fromWeb(body));
};

const messageIn = async (incoming: IncomingMessage): Promise<{ readonly body: unknown } | Response> => {
  try {
    const { value: body } = await readJson(incoming);
    return Array.isArray(body)
      ? Response.json({ jsonrpc: '2.0', id: null, error: BATCH }, { status: 400 })
      : { body };
  } catch (error) {
    const known = asProblem(error);
    if (known === undefined) throw error;
    const { code, details } = known;
    return refusal(statusOf(code), typeof details.detail === 'string' ? details.detail : code);
  }
};

const rejected = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

/**
 * Answers one request: its place, its host and its key are looked at before any of its body is read. Rejects
 * when the caller leaves or the time is over.
 */
const exchange = (
  { serverFor, verdictOf }: Serving,
  place: { readonly url: string; readonly isLocal: boolean },
) => {
  const slots = heavySlots(EXCHANGES_MAX);
  const handler = createMcpHandler(
    ({ requestInfo }) => {
      if (requestInfo === undefined) throw new Error('a request over HTTP came without its headers');
      return serverFor(keyOf(requestInfo) ?? '', requestInfo.signal);
    },
    // The tools never change: there is nothing to subscribe to.
    { maxSubscriptions: 0 },
  );

  const refused = async (incoming: IncomingMessage, request: Request): Promise<Response | undefined> => {
    const elsewhere = misplaced(incoming) ?? (place.isLocal ? strangerIn(request) : undefined);
    if (elsewhere !== undefined) return elsewhere;
    const key = keyOf(request);
    if (key === undefined)
      return refusal(401, 'Send a Quire key: Authorization: Bearer <key>.', { 'www-authenticate': 'Bearer' });
    const verdict = await verdictOf(key);
    return verdict === 'good' ? undefined : BY_VERDICT[verdict].clone();
  };

  const work = async (incoming: IncomingMessage, outgoing: ServerResponse, request: Request) => {
    if (incoming.headers.expect !== undefined) outgoing.writeContinue();
    const message = await messageIn(incoming);
    if (message instanceof Response) return refuse(incoming, outgoing, message);
    const answer = handler.fetch(request, { parsedBody: message.body });
    return send(outgoing, await Promise.race([answer, rejected(request.signal)]));
  };

  const answered = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    closeWithConnection(incoming, outgoing);
    const left = new AbortController();
    outgoing.once('close', () => left.abort());
    const signal = AbortSignal.any([left.signal, AbortSignal.timeout(EXCHANGE_MS)]);
    const request = requestOf(incoming, place.url, signal);
    const no = await refused(incoming, request);
    if (no !== undefined) return refuse(incoming, outgoing, no);
    const free = slots.take(keyOf(request) ?? '');
    if (free === undefined)
      return refuse(
        incoming,
        outgoing,
        refusal(429, 'Too many requests at once. Try again in a moment.', AGAIN),
      );
    return work(incoming, outgoing, request).finally(free);
  };
  return { answered, close: () => handler.close() };
};

/**
 * Serves the tools over streamable HTTP at `/mcp`, without sessions: any replica may answer any request. On loopback
 * only pages and names of this machine are let in, so that no page of the web reaches it through a browser.
 */
export const serveOverHttp = async (serving: Serving, { host, port }: HttpPlace): Promise<McpOverHttp> => {
  const server = createServer(CONNECTIONS);
  server.maxConnections = CONNECTIONS_MAX;
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  const url = `http://${name}:${String(address.port)}${PATH}`;
  const { answered, close: closeHandler } = exchange(serving, { url, isLocal: isLoopback(host) });
  const serve = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    // Whatever is wrong with a request, it ends alone.
    answered(incoming, outgoing).catch(() => outgoing.destroy());
  };
  server.on('request', serve).on('checkContinue', serve);
  const close = async (): Promise<void> => {
    await closeHandler();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { url, close };
};

interface Run {
  readonly signal: AbortSignal;
  readonly note: (text: string) => void;
}

const untilStopped = async (signal: AbortSignal): Promise<void> => {
  if (!signal.aborted) await once(signal, 'abort');
};

/** Serves one agent over stdin and stdout until it hangs up. */
export const runOverStdio = async ({ url, key, tenant }: ClientConfig, { signal }: Run): Promise<void> => {
  if (key === undefined)
    throw new OperatorError('Set QUIRE_API_KEY to the key that the agent works with.', 2);
  const quire = new Quire({ url, key, ...(tenant !== undefined && { tenant }) });
  const server = serveStdio(() => mcpServer({ quire, tenant, isLocal: true }));
  await Promise.race([once(process.stdin, 'end'), once(process.stdin, 'close'), untilStopped(signal)]);
  await server.close();
};

/** Most of an answer of the service that is passed on: an agent reads no more. */
const ANSWER_BYTES_MAX = 8 * 1_048_576;

const bounded = (): TransformStream<Uint8Array, Uint8Array> => {
  let bytes = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      bytes += chunk.byteLength;
      if (bytes <= ANSWER_BYTES_MAX) controller.enqueue(chunk);
      else controller.error(new ToolError('The answer has more than 8 MiB: ask for fewer pages.'));
    },
  });
};

/** `fetch` for a caller: it ends when the caller leaves, and with answers that are too large. */
const fetchFor =
  (caller: AbortSignal): typeof fetch =>
  async (input, init = {}) => {
    const signal = AbortSignal.any([caller, ...(init.signal ? [init.signal] : [])]);
    const answer = await fetch(input, { ...init, signal });
    return answer.body === null ? answer : new Response(answer.body.pipeThrough(bounded()), answer);
  };

/** How long the service may take to say whether it knows a key, ms. */
const VERDICT_MS = 10_000;

/** Asks the service about a key, by a call that every key may make. */
const verdictFrom = async (url: string, key: string): Promise<Exclude<KeyVerdict, 'busy'>> => {
  try {
    const signal = AbortSignal.timeout(VERDICT_MS);
    await new Quire({ url, key, patience: { attempts: 1 } }).api.getBillingRates({}, { signal });
    return 'good';
  } catch (error) {
    if (isProblem(error, 'invalid_api_key', 'admin_required')) return 'wrong';
    return isProblem(error, 'rate_limited') ? 'good' : 'away';
  }
};

/** Serves agents over HTTP, each with its own key, until it is stopped. */
export const runOverHttp = async (
  { url, tenant }: ClientConfig,
  place: { readonly host: string; readonly port: number },
  { signal, note }: Run,
): Promise<void> => {
  const serverFor = (key: string, caller: AbortSignal) => {
    const named = tenant === undefined ? {} : { tenant };
    const quire = new Quire({ url, key, fetch: fetchFor(caller), ...named });
    return mcpServer({ quire, tenant, isLocal: false });
  };
  const verdictOf = callerKeys((key) => verdictFrom(url, key));
  const serving = await serveOverHttp({ serverFor, verdictOf }, place);
  note(`MCP over HTTP at ${serving.url}, for the service at ${url}. Callers send their own keys.\n`);
  await untilStopped(signal);
  await serving.close();
};
