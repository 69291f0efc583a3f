import { once } from 'node:events';
import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { createConnection } from 'node:net';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { newTempFolder } from '@quire/engine/kernel/tempFolders';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import { type Clock, LogUnavailable } from '../../domain/ports/log.ts';
import { jsonIn, messageOf } from '../../domain/kernel/json.ts';
import { DataDirInUse } from '../../domain/ports/services.ts';
import { SqlUnavailable } from '../../projections/engine/ports.ts';
import { UnreadableSeal } from '../audit/chains.ts';
import { ConfigError, OperatorError } from '../clientConfig.ts';
import { reportAudit } from '../commands/audits.ts';

/** The service's description of itself for those who may open its socket. */
export const serviceFacts = z.object({
  pid: z.number(),
  version: z.string(),
  /** null without the role `api`. */
  url: z.string().nullable(),
  roles: z.array(z.string()),
  up_seconds: z.number(),
});
export type ServiceFacts = z.output<typeof serviceFacts>;

/** Says which service this is. */
export const aboutService =
  (known: Pick<ServiceFacts, 'version' | 'url' | 'roles'>): Operation =>
  (_input, { send }) =>
    send({ ...known, pid: process.pid, up_seconds: Math.floor(process.uptime()) });

/** Where an operation's items go, and when to stop. */
export interface OperationContext {
  /** Resolves when there is room for the next. */
  readonly send: (item: unknown) => Promise<void>;
  /** Aborts when the caller has gone away. */
  readonly signal: AbortSignal;
}

/** One thing that an operator can ask of the service. It throws OperatorError for what he can mend. */
export type Operation = (input: unknown, context: OperationContext) => Promise<void>;
export type Operations = Readonly<Record<string, Operation>>;

/** All items that an operation sends. */
export const itemsOf = async <Item>(
  run: (send: OperationContext['send']) => Promise<void>,
): Promise<readonly Item[]> => {
  const items: Item[] = [];
  await run((item) => {
    items.push(item as Item);
    return Promise.resolve();
  });
  return items;
};

/** One line of an answer: items, then exactly one `done` or `error`. */
type AnswerLine =
  | { readonly item: unknown }
  | { readonly done: true }
  | { readonly error: { readonly message: string; readonly exit_code: 1 | 2; readonly known: boolean } };

/** JSON with positions, which are larger than a number may be, as text. */
export const jsonLine = (value: unknown): string =>
  `${JSON.stringify(value, (_, member: unknown) => (typeof member === 'bigint' ? member.toString() : member))}\n`;

/** Of a command that an operator gives; `what` names the operation in its correlation ID. */
export const operatorMeta = (clock: Clock, what: string): CommandMeta => ({
  now: clock.now(),
  actor: { key_id: 'cli', role: 'system' },
  correlation_id: `${what}-${clock.uuid()}`,
  command_id: clock.uuid(),
});

/** The longest path that every system takes for a socket. */
const SOCKET_PATH_BYTES_MAX = 100;
const INPUT_BYTES_MAX = 64 * 1024 * 1024;

/** Where a running service can be asked, as it wrote down. */
const ADDRESS_FILE = 'operator.json';

const socketPathIn = async (dataDir: string): Promise<string> => {
  const path = join(dataDir, 'operator.sock');
  if (Buffer.byteLength(path) <= SOCKET_PATH_BYTES_MAX) return path;
  return join(await newTempFolder('operator'), 'operator.sock');
};

const inputOf = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > INPUT_BYTES_MAX) throw new OperatorError('the request is larger than 64 MiB');
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
};

const errorLine = (error: unknown): AnswerLine => {
  const known = error instanceof OperatorError;
  return { error: { message: messageOf(error), exit_code: known ? error.exitCode : 1, known } };
};

const answer = async (
  operation: Operation,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const write = async (line: AnswerLine): Promise<void> => {
    if (gone.signal.aborted) return;
    if (!response.write(jsonLine(line)))
      await once(response, 'drain', { signal: gone.signal }).catch(() => undefined);
  };
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  try {
    const input = await inputOf(request);
    await operation(input, { send: (item) => write({ item }), signal: gone.signal });
    await write({ done: true });
  } catch (error) {
    await write(errorLine(error));
  }
  response.end();
};

const serverOf = (operations: Operations): Server =>
  createServer((request, response) => {
    const name = (request.url ?? '').slice(1);
    const operation = Object.hasOwn(operations, name) ? operations[name] : undefined;
    if (operation === undefined || request.method !== 'POST') {
      response.writeHead(404).end();
      return;
    }
    void answer(operation, request, response);
  });

/** Listens with a mask, so that the socket is never open to others, not even for a moment. */
const listenOn = async (server: Server, path: string): Promise<void> => {
  const mask = process.umask(0o177);
  try {
    server.listen(path);
  } finally {
    process.umask(mask);
  }
  await once(server, 'listening');
  await chmod(path, 0o600);
};

/**
 * Lets operators of this machine ask the running service, on a socket in its data folder that only its
 * own user can open: the file's permission is the key. Never on the network. Call it by the owner of the
 * data folder: a socket that an earlier owner has left is removed.
 */
export const listenForOperators = async (
  dataDir: string,
  operations: Operations,
): Promise<{ readonly close: () => Promise<void> }> => {
  const path = await socketPathIn(dataDir);
  const addressFile = join(dataDir, ADDRESS_FILE);
  await rm(path, { force: true });
  const server = serverOf(operations);
  await listenOn(server, path);
  await writeFile(addressFile, jsonLine({ pid: process.pid, socket: path }), { mode: 0o600 });
  return {
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      await rm(addressFile, { force: true });
      if (dirname(path) !== dataDir) await rm(dirname(path), { recursive: true, force: true });
    },
  };
};

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

/** Errors that an operator can mend, by their class: their message is all that is shown. */
const FOR_OPERATOR: readonly (new (...args: never[]) => Error)[] = [
  OperatorError,
  ConfigError,
  DataDirInUse,
  SqlUnavailable,
  LogUnavailable,
  UnreadableSeal,
];

export const isForOperator = (error: unknown): error is Error =>
  FOR_OPERATOR.some((known) => error instanceof known);

const auditInput = z.strictObject({
  findings: z.number().int().min(1),
  checks: z.array(z.string().max(40)).max(100),
});
export type AuditInput = z.output<typeof auditInput>;

/** Writes into the log that an audit found something: webhooks of operators are told. */
export const tellAudit =
  (deps: Parameters<typeof reportAudit>[0]): Operation =>
  async (input, { send }) => {
    const outcome = await reportAudit(deps)(auditInput.parse(input));
    if (outcome.kind !== 'done')
      throw new OperatorError('The findings could not be written into the log. Run the audit again.');
    await send({ told: true });
  };
