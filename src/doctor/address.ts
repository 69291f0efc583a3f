import { once } from 'node:events';
import { createServer } from 'node:net';
import { z } from 'zod';
import { codeOf } from '../../domain/kernel/json.ts';
import type { AddressState } from './serviceVerdicts.ts';

const health = z.object({
  status: z.string(),
  version: z.string(),
  parts: z.record(z.string(), z.unknown()),
});

/** Where to knock: `0.0.0.0` and `::` only say that all addresses are listened on. */
const reachable = (host: string): string => {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
};

export const addressOf = (host: string, port: number): string =>
  `http://${reachable(host).includes(':') ? `[${reachable(host)}]` : reachable(host)}:${String(port)}`;

const listening = async (host: string, port: number): Promise<AddressState> => {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
    return { kind: 'free' };
  } catch (error) {
    return { kind: 'unusable', code: codeOf(error) };
  }
};

/** Asks whoever listens at an address who it is; where nobody answers, tries for a moment to listen there. */
export const addressState = async (
  { host, port }: { readonly host: string; readonly port: number },
  signal: AbortSignal,
): Promise<AddressState> => {
  const answer = await fetch(`${addressOf(host, port)}/health`, { signal, redirect: 'manual' }).catch(
    () => undefined,
  );
  if (answer === undefined) return listening(host, port);
  const read = health.safeParse(await answer.json().catch(() => undefined));
  return read.success
    ? { kind: 'quire', version: read.data.version, status: read.data.status }
    : { kind: 'stranger', what: `it answers /health with ${String(answer.status)}` };
};
