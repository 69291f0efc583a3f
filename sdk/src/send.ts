import type { Call, CallInput, CallOptions } from './call.ts';
import { sendPatiently, type Patience } from './patience.ts';
import { errorOf, isJson } from './problemError.ts';

/** Where calls go and as whom. */
export interface Connection {
  /** Address of the service, without a slash at its end. */
  readonly url: string;
  readonly key: string;
  readonly fetch: typeof fetch;
  readonly patience: Patience;
}

type Values = Readonly<Record<string, unknown>>;

const values = (given: unknown): Values => (given ?? {}) as Values;

const present = (given: unknown): readonly (readonly [string, unknown])[] =>
  Object.entries(values(given)).filter(([, value]) => value !== undefined && value !== null);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** A parameter of a query: each value of a list, each member of an object as `name[member]`. */
const asked = (name: string, value: unknown): readonly [string, string][] =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? present(value).map(([member, one]) => [`${name}[${member}]`, textOf(one)])
    : [value].flat().map((one: unknown) => [name, textOf(one)]);

/** The address of a call: its path with the values filled in, and its query. */
export const urlOf = (base: string, { path }: Call, { path: parts, query }: CallInput): string => {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(textOf(values(parts)[name])),
  );
  const search = new URLSearchParams(present(query).flatMap(([name, value]) => asked(name, value)));
  const text = search.toString();
  return `${base}${filled}${text === '' ? '' : `?${text}`}`;
};

const formOf = (body: unknown): FormData => {
  const form = new FormData();
  for (const [name, value] of present(body)) {
    if (value instanceof Blob) form.append(name, value);
    else form.append(name, textOf(value));
  }
  return form;
};

const headersOf = (
  call: Call,
  { body, headers }: CallInput,
  options: CallOptions & { key: string },
): Headers => {
  const all = new Headers({ accept: 'application/json', 'x-api-key': options.key });
  if (body !== undefined && call.isForm !== true) all.set('content-type', 'application/json');
  for (const [name, value] of present(headers)) all.set(name, textOf(value));
  if (call.isKeyed === true && !all.has('idempotency-key'))
    all.set('idempotency-key', options.idempotencyKey ?? crypto.randomUUID());
  return all;
};

/** The body of a call: a form, JSON, or nothing. */
export const bodyOf = (call: Call, { body }: CallInput): FormData | string | undefined => {
  if (body === undefined) return undefined;
  return call.isForm === true ? formOf(body) : JSON.stringify(body);
};

interface Sent {
  readonly input: CallInput;
  readonly options: CallOptions;
}

/** Sends one call and gives its answer, of data or of nothing; throws what the service says went wrong. */
export const answerOf = async (
  { url, key, fetch, patience }: Connection,
  call: Call,
  { input, options }: Sent,
): Promise<Response> => {
  const { signal } = options;
  const headers = headersOf(call, input, { ...options, key });
  const body = bodyOf(call, input);
  const request: RequestInit = {
    method: call.method,
    headers,
    // followed, it would take the key along, to wherever it leads
    redirect: 'manual',
    ...(body === undefined ? {} : { body }),
    ...(signal === undefined ? {} : { signal }),
  };
  const response = await sendPatiently(
    {
      send: () => fetch(urlOf(url, call, input), request),
      isRepeatable: call.method !== 'POST' || headers.has('idempotency-key'),
      signal,
    },
    patience,
  );
  const isData = response.status === 204 || isJson(response);
  if (!response.ok || !isData) throw await errorOf(response);
  return response;
};

/** Sends one call and gives the data that it answers with. */
export const send = async (connection: Connection, call: Call, sent: Sent): Promise<unknown> => {
  const response = await answerOf(connection, call, sent);
  return response.status === 204 ? undefined : ((await response.json()) as unknown);
};
