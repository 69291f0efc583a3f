import { EventStoreDBClient } from '@eventstore/db-client';
import { within } from './timeLimit.ts';

const FAILURES_MAX = 3;
const DISPOSE_MS = 2000;

export type Connection = ReturnType<typeof connection>;

/**
 * A client that is replaced after several failures in a row: some of them (a cached failed look-up of
 * the server's features, a call that passed its deadline) it never recovers from by itself.
 */
export const connection = (connectionString: string) => {
  let client: EventStoreDBClient | undefined;
  let failures = 0;

  const drop = async () => {
    const old = client;
    client = undefined;
    failures = 0;
    if (old !== undefined) await disposed(old);
  };
  return {
    client: (): EventStoreDBClient => (client ??= EventStoreDBClient.connectionString(connectionString)),
    succeeded: (): void => {
      failures = 0;
    },
    failed: (): void => {
      failures += 1;
      if (failures >= FAILURES_MAX) void drop();
    },
    close: drop,
  };
};

/** Streams of a dead connection may never finish: waiting for them is bounded, their errors are moot. */
const disposed = async (client: EventStoreDBClient): Promise<void> => {
  try {
    await within(client.dispose(), { what: 'dispose', ms: DISPOSE_MS });
  } catch {
    // Nothing is left to release.
  }
};

let appendsTo: string | undefined;
let shared: Connection | undefined;
let users = 0;

/**
 * The one connection for appends in this process. The client keeps its pending appends in one map of
 * the module: an error on any append client rejects the appends of all of them.
 */
export const appendConnection = (connectionString: string): Connection => {
  if (users > 0 && appendsTo !== connectionString)
    throw new Error('this process already appends to another EventStoreDB');
  appendsTo = connectionString;
  const own = (shared ??= connection(connectionString));
  users += 1;
  let open = true;
  const close = async () => {
    if (!open) return;
    open = false;
    users -= 1;
    if (users > 0) return;
    shared = undefined;
    await own.close();
  };
  return { ...own, close };
};
