import type { StreamingRead } from '@eventstore/db-client';
import { within } from './timeLimit.ts';
import type { TimeLimit } from './timeLimit.ts';

/** Takes what has arrived already and throws it away. */
const drain = async <T>(iterator: AsyncIterator<T, unknown>): Promise<void> => {
  while ((await iterator.next()).done !== true);
};

/** The server's side of a read, item by item, each waited for no longer than the limit. */
export async function* reading<T>(read: StreamingRead<T>, limit: TimeLimit): AsyncGenerator<T, void, void> {
  // An error may come when nobody is iterating: after the end, or by the cancellation below.
  read.on('error', () => undefined);
  const iterator = read[Symbol.asyncIterator]() as AsyncIterator<T, unknown>;
  try {
    for (;;) {
      const result = await within(iterator.next(), limit);
      if (result.done === true) return;
      yield result.value;
    }
  } finally {
    // Leaving a loop does not end the call by itself. A call that had ended already, and whose last items
    // nobody took, never tells so, and the client would remember it for ever.
    void read.cancel().catch(() => undefined);
    void drain(iterator).catch(() => undefined);
  }
}
