import { readFile } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { jsonIn } from '../../domain/kernel/json.ts';
import { ADDRESS_FILE } from './operatorServer.ts';
import { jsonLine, OperatorError, type OperationContext } from './protocol.ts';

const address = z.object({ pid: z.number(), socket: z.string() });

const answerLine = z.union([
  z.object({ item: z.unknown() }),
  z.object({ done: z.literal(true) }),
  z.object({
    error: z.object({
      message: z.string(),
      exit_code: z.union([z.literal(1), z.literal(2)]),
      known: z.boolean(),
    }),
  }),
]);

const answers = (socket: string): Promise<boolean> =>
  new Promise((resolve) => {
    const connection = createConnection(socket);
    const finish = (isThere: boolean) => {
      connection.destroy();
      resolve(isThere);
    };
    connection.once('connect', () => finish(true));
    connection.once('error', () => finish(false));
  });

/** The socket of the service that owns the data folder; undefined when none runs, whatever it has left. */
export const runningSocket = async (dataDir: string): Promise<string | undefined> => {
  const text = await readFile(join(dataDir, ADDRESS_FILE), 'utf8').catch(() => '{}');
  const parsed = address.safeParse(jsonIn(text));
  if (!parsed.success) return undefined;
  return (await answers(parsed.data.socket)) ? parsed.data.socket : undefined;
};

const LOST = 'The service went away before it had finished; ask again when it runs.';

const opened = (socket: string, name: string, input: unknown): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const asked = request({ socketPath: socket, path: `/${name}`, method: 'POST' }, resolve);
    asked.once('error', reject);
    asked.end(jsonLine(input));
  });

/**
 * Asks the service behind `socket` and passes on each item. Throws OperatorError when it says no or goes
 * away. An abort hangs up, which aborts the operation over there.
 */
export const askOperator = async (
  socket: string,
  asked: { readonly name: string; readonly input: unknown },
  { send, signal }: OperationContext,
): Promise<void> => {
  const response = await opened(socket, asked.name, asked.input);
  if (response.statusCode !== 200)
    throw new OperatorError('The running service is of another version: restart it with this one.');
  const hangUp = () => response.destroy();
  signal.addEventListener('abort', hangUp, { once: true });
  response.on('error', () => undefined);
  try {
    for await (const text of createInterface({ input: response })) {
      const line = answerLine.parse(JSON.parse(text));
      if ('done' in line) return;
      if ('error' in line) throw new OperatorError(line.error.message, line.error.exit_code);
      await send(line.item);
    }
  } finally {
    signal.removeEventListener('abort', hangUp);
    response.destroy();
  }
  signal.throwIfAborted();
  throw new OperatorError(LOST);
};
