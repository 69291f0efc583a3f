import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { Agent, Dispatcher, Response } from 'undici';
import type { Fault } from './faults.ts';
import { retryAfterMs } from './retryAfter.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** An answer that was whole: 2xx, JSON unless it is empty. */
export interface HttpAnswer {
  readonly status: number;
  readonly header: (name: string) => string | null;
  readonly text: string;
}

export type Exchange =
  | { readonly kind: 'answered'; readonly answer: HttpAnswer }
  | { readonly kind: 'fault'; readonly fault: Fault };

/** One request and its answer, over connections to one base. Never rejects. */
export type Http = (request: HttpRequest) => Promise<Exchange>;

export interface HttpOptions {
  readonly dispatcher: Dispatcher;
  /** `https://host:port`: nothing goes anywhere else. */
  readonly origin: string;
  readonly bytesMax: number;
  readonly signal: AbortSignal;
  readonly nowMs: () => number;
}

/** How long a provider may take to be connected with, to begin its answer, and between two parts of it. */
const LIMITS_MS = { connect: 10_000, headers: 600_000, body: 60_000 } as const;

/** Loaded when a model is asked first: many services never ask one. Bundled, it has nothing but its default. */
const undici = async () => (await import('undici')).default;

/** Connections that are made to the given addresses only; any, where there are none. */
export const agentFor = async (addresses?: readonly LookupAddress[]): Promise<Agent> => {
  const { Agent } = await undici();
  return new Agent({
    connect: { timeout: LIMITS_MS.connect, ...(addresses !== undefined && { lookup: pinned(addresses) }) },
    headersTimeout: LIMITS_MS.headers,
    bodyTimeout: LIMITS_MS.body,
  });
};

/** Whatever a name stands for by now, it is the addresses that were checked. */
const pinned =
  (addresses: readonly LookupAddress[]): LookupFunction =>
  (_host, options, callback) => {
    const [first] = addresses;
    if (first === undefined) {
      callback(new Error('no address'), '');
      return;
    }
    if (options.all === true) {
      callback(null, [...addresses]);
      return;
    }
    callback(null, first.address, first.family);
  };

const ELSEWHERE: Fault = { kind: 'unsuitable', detail: 'is asked at no address but its API base' };

const fault = (of: Fault): Exchange => ({ kind: 'fault', fault: of });

export const httpOver =
  ({ dispatcher, origin, bytesMax, signal, nowMs }: HttpOptions): Http =>
  async ({ url, method, headers, body }) => {
    if (new URL(url).origin !== origin) return fault(ELSEWHERE);
    try {
      const { fetch } = await undici();
      const sent = { method, headers, redirect: 'manual', dispatcher, signal } as const;
      const response = await fetch(url, { ...sent, ...(body !== undefined && { body }) });
      if (response.ok) return await answerOf(response, bytesMax);
      await discard(response);
      if (response.status < 400) return fault({ kind: 'redirect', status: response.status });
      const wait = retryAfterMs((name) => response.headers.get(name), nowMs());
      return fault({ kind: 'status', status: response.status, retryAfterMs: wait });
    } catch (error) {
      return fault(signal.aborted ? { kind: 'interrupted' } : { kind: 'connection', mayPass: passes(error) });
    }
  };

/** The words of a refusal are not read: they may repeat the key. */
const discard = async ({ body }: Response): Promise<void> => {
  await body?.cancel().catch(() => undefined);
};

async function answerOf(response: Response, bytesMax: number): Promise<Exchange> {
  const { status } = response;
  const text = await textUpTo(response, bytesMax);
  if (text === undefined) return fault({ kind: 'too_large', status });
  const type = response.headers.get('content-type') ?? '';
  if (text !== '' && !(/[/+]json\b/iu.test(type) && isJson(text)))
    return fault({ kind: 'malformed', status });
  return { kind: 'answered', answer: { status, header: (name) => response.headers.get(name), text } };
}

/** undefined: there is more than that. */
async function textUpTo(response: Response, bytesMax: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const parts: AsyncIterable<Uint8Array> | Iterable<Uint8Array> = response.body ?? [];
  for await (const chunk of parts) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

const LASTING = /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL|ENOTFOUND|ERR_INVALID/u;

/** Certificates and names that do not exist stay as they are; lines that broke are tried again. */
const passes = (error: unknown): boolean => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return !(cause instanceof Error && 'code' in cause && LASTING.test(String(cause.code)));
};
