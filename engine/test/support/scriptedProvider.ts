import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '../../kernel/json.ts';
import { act, answerPoll, beginReading, type Poll } from './scriptedProvider/acting.ts';
import { status, type ScriptedRequest, type Step } from './scriptedProvider/steps.ts';
import { modelAsked, wireAt } from './scriptedProvider/wires.ts';

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

/**
 * A model provider that speaks every wire format over real HTTP and does as its script says: chat
 * completions (OpenAI, Azure, Mistral and their like), OpenAI's responses, Anthropic's messages, Google's
 * generateContent, Mistral's OCR, Azure Document Intelligence and docling-serve.
 */
export async function startScriptedProvider(): Promise<ScriptedProvider> {
  const requests: Mutable<ScriptedRequest>[] = [];
  const scripts = new Map<string, (Step | StepOf)[]>();
  const polls = new Map<string, Poll>();

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
    if (request.wire === 'poll') {
      answerPoll(reply, polls.get(request.path));
      return;
    }
    const step = next(request);
    if (step.afterMs !== undefined) await new Promise((resolve) => setTimeout(resolve, step.afterMs));
    if (step.do === 'read' || step.do === 'read_failed') {
      if (beginReading(step, request, { reply, polls })) return;
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

const POLLED = /\/(?:analyzeResults|status\/poll|result)\//u;

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
    wire: POLLED.test(pathname) ? 'poll' : (wireAt(pathname) ?? null),
    model: modelAsked(pathname, body),
    key: keyOf(incoming.headers),
    atMs: Date.now(),
    abandoned: false,
  };
}
