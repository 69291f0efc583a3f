import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/**
 * Ports below those that systems give to whoever connects, in blocks. A process has a block for as long as it listens
 * on its first port, which the system lets only one do and ends with it: so no two processes give out one port,
 * whichever release of Node they run on, and whatever becomes of them.
 */
const FIRST = 20_000;
const BLOCK_PORTS = 32;
const BLOCKS = 375;

/** undefined: somebody else listens on it. */
const listening = async (port: number): Promise<Server | undefined> => {
  const server = createServer().listen({ port, host: '127.0.0.1', exclusive: true });
  return once(server, 'listening').then(
    () => server,
    () => undefined,
  );
};

const newBlock = async (): Promise<readonly number[]> => {
  for (;;) {
    const first = FIRST + BLOCK_PORTS * randomInt(BLOCKS);
    const held = await listening(first);
    held?.unref();
    if (held !== undefined) return Array.from({ length: BLOCK_PORTS - 1 }, (_, at) => first + 1 + at);
  }
};

const isFree = async (port: number): Promise<boolean> => {
  const server = await listening(port);
  if (server === undefined) return false;
  server.close();
  await once(server, 'close');
  return true;
};

let left: number[] = [];
let turn: Promise<unknown> = Promise.resolve();

const nextPort = async (): Promise<number> => {
  for (;;) {
    if (left.length === 0) left = [...(await newBlock())];
    const port = left.shift();
    if (port !== undefined && (await isFree(port))) return port;
  }
};

/**
 * A port that nobody listens on now, and that nobody else is given: for what has to be told before it listens. What
 * can say where it listens is told port 0.
 */
export const freePort = (): Promise<number> => {
  const port = turn.then(nextPort);
  turn = port.catch(() => undefined);
  return port;
};
