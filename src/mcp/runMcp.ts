import { once } from 'node:events';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { isProblem, Quire } from '../../sdk/src/index.ts';
import type { ClientConfig } from '../clientConfig.ts';
import { OperatorError } from '../operator/protocol.ts';
import { callerKeys, type KeyVerdict } from './callerKeys.ts';
import { mcpServer } from './mcpServer.ts';
import { serveOverHttp } from './overHttp.ts';
import { ToolError } from './toolError.ts';

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
    if (isProblem(error, 'invalid_api_key')) return 'wrong';
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
