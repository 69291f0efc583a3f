import type { EventEmitter } from 'node:events';
import type { StreamingRead } from '@eventstore/db-client';
import { within } from './timeLimit.ts';
import type { TimeLimit } from './timeLimit.ts';

/** Takes what has arrived already and throws it away. */
const drain = async <T>(iterator: AsyncIterator<T, unknown>): Promise<void> => {
  while ((await iterator.next()).done !== true);
};

/** The status of a gRPC call that the server itself has ended, and all of whose messages have arrived. */
const OK = 0;

/**
 * Whether the server has ended a read. The client's own stream does not tell: a call that the client
 * cancels, as when it is disposed of, ends that stream without an error. The call, which is piped into it,
 * has its status before the stream's end.
 */
const endedByServer = (read: StreamingRead<unknown>): (() => boolean) => {
  let status: number | undefined;
  read.once('pipe', (call) => {
    (call as EventEmitter).once('status', ({ code }: { readonly code: number }) => (status = code));
  });
  return () => status === OK;
};

/**
 * The server's side of a read, item by item, each waited for no longer than the limit. It ends when the
 * server says that it has ended, and throws when it ends otherwise.
 */
export async function* reading<T>(read: StreamingRead<T>, limit: TimeLimit): AsyncGenerator<T, void, void> {
  const isWhole = endedByServer(read);
  // An error may come when nobody is iterating: after the end, or by the cancellation below.
  read.on('error', () => undefined);
  const iterator = read[Symbol.asyncIterator]() as AsyncIterator<T, unknown>;
  try {
    for (;;) {
      const result = await within(iterator.next(), limit);
      if (result.done === true && isWhole()) return;
      if (result.done === true) throw new Error(`${limit.what} was cut short`);
      yield result.value;
    }
  } finally {
    // Leaving a loop does not end the call by itself. A call that had ended already, and whose last items
    // nobody took, never tells so, and the client would remember it for ever.
    void read.cancel().catch(() => undefined);
    void drain(iterator).catch(() => undefined);
  }
}
