import { EventStoreDBClient } from '@eventstore/db-client';
import { within } from './timeLimit.ts';

const FAILURES_MAX = 3;
const DISPOSE_MS = 2000;

/** The connection below a client, as gRPC tells of it. */
interface Channel {
  readonly getConnectivityState: (connect: boolean) => number;
  readonly watchConnectivityState: (from: number, deadline: number, told: () => void) => void;
  readonly close: () => void;
}

/** What the client keeps for those that extend it: nothing else tells whether its connection is the same. */
interface Inside {
  readonly getChannel: () => Promise<Channel>;
  /** What the server can do: asked once for each channel, and before its first append. */
  readonly capabilities: Promise<unknown>;
}

const inside = (client: EventStoreDBClient): Inside => client as unknown as Inside;

/** gRPC's numbers. */
const [READY, TRANSIENT_FAILURE, SHUTDOWN] = [2, 3, 4];

/** Changes of a channel between connected and not, and its end. */
const follow = (channel: Channel, changed: (isConnected: boolean) => void): void => {
  let before = channel.getConnectivityState(false);
  const look = (): void => {
    const state = channel.getConnectivityState(false);
    const isOther = (state === READY) !== (before === READY);
    before = state;
    if (state !== SHUTDOWN) channel.watchConnectivityState(state, Infinity, look);
    if (isOther) changed(state === READY);
  };
  if (before === READY) changed(true);
  channel.watchConnectivityState(before, Infinity, look);
};

/** Resolves once it is connected; throws when that failed. */
const connected = async (channel: Channel): Promise<void> => {
  for (;;) {
    const state = channel.getConnectivityState(true);
    if (state === READY) return;
    if (state === TRANSIENT_FAILURE) throw new Error('EventStoreDB cannot be reached');
    await new Promise<void>((told) => channel.watchConnectivityState(state, Infinity, told));
  }
};

export type Connection = ReturnType<typeof connection>;

/**
 * A client that is replaced after several failures in a row: some of them (a cached failed look-up of
 * the server's features, a call that passed its deadline) it never recovers from by itself. The calls that
 * run on it are cancelled then. How a call went is told with its client: of one that was replaced it says
 * nothing about the next. With `once` it is replaced when it loses its connection, too: gRPC would connect again
 * and send over the new one what was meant for the old.
 */
export const connection = (connectionString: string, { once = false } = {}) => {
  let client: EventStoreDBClient | undefined;
  let followed: Channel | undefined;
  let failures = 0;
  let epoch = 0;

  const drop = async () => {
    const [old, channel] = [client, followed];
    [client, followed, failures] = [undefined, undefined, 0];
    if (once) channel?.close();
    if (old !== undefined) await disposed(old);
  };
  const channelOf = async (mine: EventStoreDBClient): Promise<Channel> => {
    const channel = await inside(mine).getChannel();
    if (client !== mine || channel === followed) return channel;
    followed = channel;
    follow(channel, (isConnected) => {
      if (followed !== channel) return;
      epoch += 1;
      // Not within gRPC's own notice; nothing connects before this turn of the event loop has ended.
      if (once && !isConnected) process.nextTick(() => followed === channel && void drop());
    });
    return channel;
  };
  const current = (): EventStoreDBClient => {
    const mine = (client ??= EventStoreDBClient.connectionString(connectionString));
    void channelOf(mine).catch(() => undefined);
    return mine;
  };
  return {
    client: current,
    /** Counts the times that it was connected, or ceased to be. */
    epoch: (): number => epoch,
    /** The client once it is connected: what is sent in the same turn goes over that connection or nowhere. */
    ready: async (): Promise<EventStoreDBClient> => {
      const mine = (client ??= EventStoreDBClient.connectionString(connectionString));
      const channel = await channelOf(mine);
      await connected(channel);
      await inside(mine).capabilities.catch(() => undefined);
      if (channel !== followed || channel.getConnectivityState(false) !== READY)
        throw new Error('the connection to EventStoreDB was lost');
      return mine;
    },
    succeeded: (on: EventStoreDBClient): void => {
      if (on === client) failures = 0;
    },
    failed: (on: EventStoreDBClient): void => {
      if (on !== client) return;
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
  const own = (shared ??= connection(connectionString, { once: true }));
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
