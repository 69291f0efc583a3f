import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
  type McpServer,
} from '@modelcontextprotocol/server';

/** The base64 of the largest upload, 50 MiB, and some members beside it. */
const BODY_MAX_BYTES = 70_000_000;

interface HttpPlace {
  readonly host: string;
  readonly port: number;
}

export interface McpOverHttp {
  readonly url: string;
  close(): Promise<void>;
}

const PATH = '/mcp';
const BEARER = /^Bearer (\S+)$/i;

/** The Quire key of the one who calls: every caller works with its own. */
const keyOf = ({ headers }: Request): string | undefined =>
  headers.get('x-api-key') ?? BEARER.exec(headers.get('authorization') ?? '')?.[1];

const requestOf = (incoming: IncomingMessage, url: string): Request => {
  const headers = new Headers();
  for (const [name, value = ''] of Object.entries(incoming.headers)) headers.set(name, String(value));
  const { method = 'GET' } = incoming;
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const body = hasBody ? { body: Readable.toWeb(incoming), duplex: 'half' as const } : {};
  return new Request(new URL(incoming.url ?? '/', url), { method, headers, ...body });
};

const sendResponse = async (response: Response, outgoing: ServerResponse): Promise<void> => {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) outgoing.end();
  else await pipeline(Readable.fromWeb(response.body), outgoing);
};

const refusal = (status: number, error: string): Response =>
  Response.json({ error }, { status, headers: status === 401 ? { 'www-authenticate': 'Bearer' } : {} });

const isLoopback = (host: string): boolean => ['127.0.0.1', '::1', 'localhost'].includes(host);

/**
 * Serves the tools over streamable HTTP at `/mcp`, without sessions: any replica may answer any request. On loopback
 * only pages and names of this machine are let in, so that no page of the web reaches it through a browser.
 */
export const serveOverHttp = async (
  serverFor: (key: string) => McpServer,
  { host, port }: HttpPlace,
): Promise<McpOverHttp> => {
  const handler = createMcpHandler(
    ({ requestInfo }) => serverFor((requestInfo && keyOf(requestInfo)) ?? ''),
    {
      maxRequestBodySize: BODY_MAX_BYTES,
    },
  );
  const answer = (request: Request): Response | Promise<Response> => {
    const stranger = isLoopback(host)
      ? (hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
        originValidationResponse(request, localhostAllowedOrigins()))
      : undefined;
    if (stranger !== undefined) return stranger;
    if (new URL(request.url).pathname !== PATH) return refusal(404, `Only ${PATH} is served.`);
    if (keyOf(request) === undefined) return refusal(401, 'Send a Quire key: Authorization: Bearer <key>.');
    return handler.fetch(request);
  };
  const server = createServer((incoming, outgoing) => {
    Promise.resolve(answer(requestOf(incoming, url)))
      .then((response) => sendResponse(response, outgoing))
      .catch(() => outgoing.destroy());
  });
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  const url = `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${String(address.port)}`;
  const close = async (): Promise<void> => {
    await handler.close();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { url: `${url}${PATH}`, close };
};
