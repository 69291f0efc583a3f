import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json, JsonObject } from '../../kernel/json.ts';
import {
  answerOn,
  azureDi,
  mistralOcr,
  modelAsked,
  wireAt,
  type ScriptedAnswer,
  type ScriptedPage,
  type ScriptedUsage,
  type WireName,
} from './scriptedProvider/wires.ts';

/** What the provider does with one request. `afterMs` waits before it begins. */
export type Step = { readonly afterMs?: number } & (
  | {
      readonly do: 'answer';
      /** A text, or a value that is written as JSON. */
      readonly with: Json;
      readonly usage?: ScriptedUsage;
      readonly finish?: ScriptedAnswer['finish'];
    }
  /** Of the OCR wires. Azure says `running` to so many questions first. */
  | { readonly do: 'read'; readonly pages: readonly ScriptedPage[]; readonly running?: number }
  /** Azure takes the file, and cannot read it. */
  | { readonly do: 'read_failed' }
  | { readonly do: 'status'; readonly status: number; readonly retryAfter?: string; readonly body?: Json }
  /** Half of an answer, whole by its length. */
  | { readonly do: 'truncate' }
  /** An HTML page, with status 200. */
  | { readonly do: 'html' }
  /** An answer of another shape, as JSON. */
  | { readonly do: 'nonsense' }
  /** A byte at a time, and never the last. */
  | { readonly do: 'drip'; readonly everyMs: number }
  | { readonly do: 'flood'; readonly bytes: number }
  | { readonly do: 'hang' }
  | { readonly do: 'reset' }
  | { readonly do: 'redirect'; readonly to: string }
);

export interface ScriptedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  /** `{}` of a request without one. */
  readonly body: JsonObject;
  readonly wire: WireName | 'azure_di_poll' | null;
  readonly model: string;
  readonly key: string;
  readonly atMs: number;
  /** The client hung up before it had its answer. */
  readonly abandoned: boolean;
}

export interface ScriptedProvider {
  /** `http://127.0.0.1:port`, without a path: any base below it will do. */
  readonly url: string;
  /** Oldest first. */
  readonly requests: ScriptedRequest[];
  /**
   * What is done with requests of an API key, a model, or `*` for all others, in this order. Each request
   * takes the next step; the last one is repeated. A step may depend on the request. Replaces what was set
   * for it before; requests without a script get 404.
   */
  readonly script: (modelOrKey: string, ...steps: readonly (Step | StepOf)[]) => void;
  readonly stop: () => Promise<void>;
}

type StepOf = (request: ScriptedRequest) => Step;
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Answers with a text, or with a value as JSON. */
export const answers = (value: Json, usage?: ScriptedUsage): Extract<Step, { do: 'answer' }> => ({
  do: 'answer',
  with: value,
  ...(usage !== undefined && { usage }),
});
export const reads = (...pages: readonly ScriptedPage[]): Extract<Step, { do: 'read' }> => ({
  do: 'read',
  pages,
});
export const status = (code: number, retryAfter?: string): Step => ({
  do: 'status',
  status: code,
  ...(retryAfter !== undefined && { retryAfter }),
});

export const USAGE: ScriptedUsage = { input: 120, output: 30, cached: 20 };

/**
 * A model provider that speaks every wire format over real HTTP and does as its script says: chat
 * completions (OpenAI, Azure, Mistral and their like), OpenAI's responses, Anthropic's messages, Google's
 * generateContent, Mistral's OCR and Azure Document Intelligence.
 */
export async function startScriptedProvider(): Promise<ScriptedProvider> {
  const requests: Mutable<ScriptedRequest>[] = [];
  const scripts = new Map<string, (Step | StepOf)[]>();
  const polls = new Map<string, { left: number; result: JsonObject }>();

  const next = (request: ScriptedRequest): Step => {
    const queue = scripts.get(request.key) ?? scripts.get(request.model) ?? scripts.get('*');
    const step = queue !== undefined && queue.length > 1 ? queue.shift() : queue?.[0];
    if (step === undefined) return status(404);
    return typeof step === 'function' ? step(request) : step;
  };

  const serve = async (incoming: IncomingMessage, reply: ServerResponse): Promise<void> => {
    const request: Mutable<ScriptedRequest> = await received(incoming);
    requests.push(request);
    reply.once('close', () => {
      request.abandoned = !reply.writableFinished;
    });
    if (request.wire === 'azure_di_poll') {
      answerPoll(reply, polls.get(request.path));
      return;
    }
    const step = next(request);
    if (step.afterMs !== undefined) await new Promise((resolve) => setTimeout(resolve, step.afterMs));
    if (request.wire === 'azure_di' && (step.do === 'read' || step.do === 'read_failed')) {
      const path = `/documentintelligence/documentModels/${request.model}/analyzeResults/${polls.size + 1}`;
      polls.set(path, {
        left: step.do === 'read' ? (step.running ?? 1) : 0,
        result:
          step.do === 'read' ? azureDi(step.pages) : { status: 'failed', error: { code: 'InvalidRequest' } },
      });
      const location = `http://${incoming.headers.host ?? ''}${path}?api-version=2024-11-30`;
      reply.writeHead(202, { 'operation-location': location, 'retry-after': '0' }).end();
      return;
    }
    act(step, request, reply);
  };

  const server = createServer((incoming, reply) => {
    serve(incoming, reply).catch(() => reply.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    script: (modelOrKey, ...steps) => void scripts.set(modelOrKey, [...steps]),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const keyOf = (headers: IncomingHttpHeaders): string => {
  const named = ['x-api-key', 'x-goog-api-key', 'api-key', 'ocp-apim-subscription-key'].map(
    (name) => headers[name],
  );
  const key = named.find((value) => value !== undefined) ?? headers.authorization?.replace(/^Bearer /u, '');
  return typeof key === 'string' ? key : '';
};

async function received(incoming: IncomingMessage): Promise<ScriptedRequest> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Uint8Array);
  const text = Buffer.concat(chunks).toString();
  const { pathname, search } = new URL(incoming.url ?? '/', 'http://provider');
  const body = (text === '' ? {} : JSON.parse(text)) as JsonObject;
  return {
    method: incoming.method ?? '',
    path: pathname,
    query: search,
    headers: incoming.headers,
    body,
    wire: pathname.includes('/analyzeResults/') ? 'azure_di_poll' : (wireAt(pathname) ?? null),
    model: modelAsked(pathname, body),
    key: keyOf(incoming.headers),
    atMs: Date.now(),
    abandoned: false,
  };
}

function answerPoll(reply: ServerResponse, poll: { left: number; result: JsonObject } | undefined): void {
  if (poll === undefined) {
    sendJson(reply, 404, { error: { code: 'NotFound' } });
    return;
  }
  poll.left -= 1;
  if (poll.left < 0) {
    sendJson(reply, 200, poll.result);
    return;
  }
  reply.setHeader('retry-after', '0');
  sendJson(reply, 200, { status: 'running' });
}

const sendJson = (reply: ServerResponse, code: number, body: Json): void => {
  reply.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

/** What the answer would be, had it not been spoilt. */
const plain = ({ wire, body }: ScriptedRequest): JsonObject =>
  wire === 'mistral_ocr'
    ? mistralOcr([{ markdown: 'spoilt' }])
    : answerOn(wire, { text: '{"spoilt":true}', usage: USAGE, finish: 'stop' }, body);

function act(step: Step, request: ScriptedRequest, reply: ServerResponse): void {
  switch (step.do) {
    case 'answer': {
      const text = typeof step.with === 'string' ? step.with : JSON.stringify(step.with);
      const answer = { text, usage: step.usage ?? USAGE, finish: step.finish ?? 'stop' };
      sendJson(reply, 200, answerOn(request.wire, answer, request.body));
      return;
    }
    case 'read': {
      sendJson(reply, 200, mistralOcr(step.pages));
      return;
    }
    // no OCR wire but Azure's tells it otherwise
    case 'read_failed': {
      sendJson(reply, 422, { detail: 'cannot be read' });
      return;
    }
    case 'status':
      if (step.retryAfter !== undefined) reply.setHeader('retry-after', step.retryAfter);
      // as careless providers do, the body repeats the key
      {
        sendJson(
          reply,
          step.status,
          step.body ?? { error: { message: `key ${request.key} failed`, type: 'error', code: 'error' } },
        );
        return;
      }
    default: {
      spoil(step, request, reply);
      return;
    }
  }
}

type Spoilt = Exclude<Step, { do: 'answer' | 'read' | 'read_failed' | 'status' }>;

function spoil(step: Spoilt, request: ScriptedRequest, reply: ServerResponse): void {
  const whole = JSON.stringify(plain(request));
  switch (step.do) {
    case 'nonsense':
      sendJson(reply, 200, { hello: 'world' });
      return;
    case 'truncate':
      reply.writeHead(200, { 'content-type': 'application/json' }).end(whole.slice(0, whole.length >> 1));
      return;
    case 'html':
      reply.writeHead(200, { 'content-type': 'text/html' }).end('<html><body>Please sign in</body></html>');
      return;
    case 'drip': {
      drip(reply, whole, step.everyMs);
      return;
    }
    case 'flood':
      reply.writeHead(200, { 'content-type': 'application/json' }).end(`"${'x'.repeat(step.bytes)}"`);
      return;
    case 'hang':
      return;
    case 'reset':
      reply.socket?.resetAndDestroy();
      return;
    case 'redirect':
      reply.writeHead(307, { location: step.to }).end();
  }
}

function drip(reply: ServerResponse, whole: string, everyMs: number): void {
  reply.writeHead(200, { 'content-type': 'application/json' });
  let at = 0;
  const timer = setInterval(() => {
    if (at < whole.length - 1) reply.write(whole[at]);
    at += 1;
  }, everyMs);
  reply.once('close', () => clearInterval(timer));
}
