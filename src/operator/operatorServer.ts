import { once } from 'node:events';
import { rm, writeFile, chmod } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { newTempFolder } from '@quire/engine/kernel/tempFolders';
import { messageOf } from '../../domain/kernel/json.ts';
import { jsonLine, OperatorError, type AnswerLine, type Operation, type Operations } from './protocol.ts';

/** The longest path that every system takes for a socket. */
const SOCKET_PATH_BYTES_MAX = 100;
const INPUT_BYTES_MAX = 64 * 1024 * 1024;

/** Where a running service can be asked, as it wrote down. */
export const ADDRESS_FILE = 'operator.json';

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
