import { once } from 'node:events';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { Quire } from '../../sdk/src/index.ts';
import type { ClientConfig } from '../clientConfig.ts';
import { OperatorError } from '../operator/protocol.ts';
import { mcpServer } from './mcpServer.ts';
import { serveOverHttp } from './overHttp.ts';

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

/** Serves agents over HTTP, each with its own key, until it is stopped. */
export const runOverHttp = async (
  { url, tenant }: ClientConfig,
  place: { readonly host: string; readonly port: number },
  { signal, note }: Run,
): Promise<void> => {
  const serverFor = (key: string) =>
    mcpServer({
      quire: new Quire({ url, key, ...(tenant !== undefined && { tenant }) }),
      tenant,
      isLocal: false,
    });
  const serving = await serveOverHttp(serverFor, place);
  note(`MCP over HTTP at ${serving.url}, for the service at ${url}. Callers send their own keys.\n`);
  await untilStopped(signal);
  await serving.close();
};
