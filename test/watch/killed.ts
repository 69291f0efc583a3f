import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { until } from '../../engine/test/support/until.ts';

export const SCHEMA = { type: 'object', properties: { invoice_number: { type: 'string' } } };

/** Numbers that look random, and are the same each time. */
export const seeded = (seed: number) => () => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
  return seed / 2_147_483_648;
};

export type Moment = 'before' | 'after';

/** Passes requests on, and tells of each before it is sent and after it was answered. */
export const startBetween = async (target: string, tell: (moment: Moment) => void): Promise<Server> => {
  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { method = 'GET', url = '/', headers } = incoming;
    const body = method === 'GET' ? undefined : new Uint8Array(await buffer(incoming));
    tell('before');
    const { host: _, connection: __, 'content-length': ___, ...rest } = headers;
    const answer = await fetch(`${target}${url}`, {
      method,
      headers: rest as Record<string, string>,
      ...(body && { body }),
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    tell('after');
    const type = answer.headers.get('content-type');
    const again = answer.headers.get('retry-after');
    outgoing.writeHead(answer.status, {
      ...(type !== null && { 'content-type': type }),
      ...(again !== null && { 'retry-after': again }),
    });
    outgoing.end(bytes);
  };
  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
};

/** `fetch` throws a TypeError for a connection that the other side has closed: the call is made anew. */
export const answered = async <T>(call: () => Promise<T>): Promise<T> => {
  const found: T[] = [];
  await until(async () => {
    try {
      found.push(await call());
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
    return found.length > 0;
  });
  return found[0]!;
};

export const numberOf = (n: number) => `Q-${String(1_000 + n)}`;
export const invoice = (n: number) => `Invoice number: ${numberOf(n)}\nTotal: ${String(100 + n)}.00 EUR\n`;

export interface Result {
  readonly file: string;
  readonly status: string;
  readonly result: { readonly result: { readonly invoice_number?: string } } | null;
  readonly error: { readonly code: string } | null;
}
export const resultAt = (path: string): Result => JSON.parse(readFileSync(path, 'utf8')) as Result;
