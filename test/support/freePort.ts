import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below those that systems give to whoever connects, so that no connection takes one before it is listened on. */
const [FIRST, LAST] = [20_000, 32_000];

/** A port that nobody listens on now. */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(FIRST, LAST);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
};
