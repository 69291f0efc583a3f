import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { Agent, Dispatcher, Response } from 'undici';
import type { ModelFailure, ModelUsage } from '../ports/modelProvider.ts';

/**
 * Milliseconds that a provider asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date.
 * null: it asks for nothing that can be understood.
 */
export const retryAfterMs = (header: (name: string) => string | null, nowMs: number): number | null => {
  const precise = wholeNumber(header('retry-after-ms'));
  if (precise !== null) return precise;
  const asked = header('retry-after');
  const seconds = wholeNumber(asked);
  if (seconds !== null) return seconds * 1_000;
  const at = asked === null ? Number.NaN : Date.parse(asked);
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
};

/** Fractions are rounded up. */
const wholeNumber = (text: string | null): number | null =>
  text !== null && /^\s*\d{1,9}(?:\.\d+)?\s*$/u.test(text) ? Math.ceil(Number(text)) : null;

/** Why one attempt came to nothing. No part of what the provider wrote is kept. */
export type Fault =
  | { readonly kind: 'status'; readonly status: number; readonly retryAfterMs: number | null }
  /** There was no answer; `mayPass` unless it is of the certificate or the like. */
  | { readonly kind: 'connection'; readonly mayPass: boolean }
  /** An answer that is none: cut short, of a wrong type, of another shape. */
  | { readonly kind: 'malformed'; readonly status: number }
  | { readonly kind: 'redirect'; readonly status: number }
  | { readonly kind: 'too_large'; readonly status: number }
  /** The provider took the document and says that it cannot read it. */
  | { readonly kind: 'unreadable'; readonly status: number }
  /** The request cannot be put to this model. */
  | { readonly kind: 'unsuitable'; readonly detail: string }
  | { readonly kind: 'circuit_open' }
  /** By the caller, or at the deadline. */
  | { readonly kind: 'interrupted' };

export const NO_USAGE: ModelUsage = {
  input_tokens: 0,
  output_tokens: 0,
  cached_input_tokens: 0,
  pages: null,
};

const TRY_LATER = new Set([408, 425, 429]);

/** Whether another attempt may do better. An answer that is none is asked for once more, not often. */
export const mayPass = (fault: Fault, malformedBefore: number): boolean => {
  switch (fault.kind) {
    case 'status':
      return fault.status >= 500 || TRY_LATER.has(fault.status);
    case 'connection':
      return fault.mayPass;
    case 'malformed':
      return malformedBefore === 0;
    default:
      return false;
  }
};

/** Whether a fault says that the provider is down, rather than that it did not like the request. */
export const saysDown = (fault: Fault): boolean =>
  fault.kind === 'connection' ||
  fault.kind === 'interrupted' ||
  (fault.kind === 'status' && fault.status >= 500);

/** The failure that a caller is told of. Neither a key nor the provider's words can be in it. */
export const failureOf = (fault: Fault, provider: string): ModelFailure =>
  fault.kind === 'interrupted'
    ? { kind: 'timed_out', provider, detail: `${provider} did not answer in time.` }
    : {
        kind: 'provider_error',
        provider,
        provider_status: 'status' in fault ? fault.status : null,
        detail: `${provider} ${sentence(fault)}.`,
      };

const STATUS_SENTENCES: Readonly<Record<number, string>> = {
  400: 'does not accept the request',
  401: 'refuses the key',
  402: 'asks for payment: the account of the key has no credit there',
  403: 'refuses the key',
  404: 'does not know the model, or the API base is not one of its addresses',
  408: 'did not answer in time',
  413: 'finds the request too large',
  422: 'does not accept the request',
  429: 'takes no more requests for now',
  503: 'is overloaded',
  529: 'is overloaded',
};

const wordsFor = (status: number): string =>
  STATUS_SENTENCES[status] ?? (status >= 500 ? 'failed' : 'refuses the request');

function sentence(fault: Exclude<Fault, { kind: 'interrupted' }>): string {
  switch (fault.kind) {
    case 'status':
      return `${wordsFor(fault.status)} (status ${fault.status})`;
    case 'connection':
      return 'could not be reached';
    case 'malformed':
      return 'sent an answer that is cut short or has another form than it should';
    case 'redirect':
      return 'answered with a redirect, which is not followed: give the API base that it leads to';
    case 'too_large':
      return 'sent an answer that is too large';
    case 'unreadable':
      return 'could not read the document';
    case 'unsuitable':
      return fault.detail;
    case 'circuit_open':
      return 'failed several times in a row and is not asked for half a minute: try again later';
  }
}

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

type Exchange =
  | { readonly kind: 'answered'; readonly answer: HttpAnswer }
  | { readonly kind: 'fault'; readonly fault: Fault };

/** One request and its answer, over connections to one base. Never rejects. */
export type Http = (request: HttpRequest) => Promise<Exchange>;

interface HttpOptions {
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
