import { ANY, EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { type AppendCall, appendCallOf, openAppendCall, type Sent } from './appends.ts';
import { ELECTION_MS, isNotLeader, LeaderElsewhere, patience } from './leader.ts';
import { type Asked, recorded, served, within } from './reads.ts';
import { isSystem, subscribeToAll } from './subscription.ts';
import {
  type AppendResult,
  type BackwardsOptions,
  type EventFeed,
  type EventStore,
  LogLoginRefused,
  LogUnavailable,
  type ReadOptions,
  SNAPSHOT_BYTES_MAX,
  type SnapshotStore,
} from '../../domain/ports/log.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import { SNAPSHOT_CATEGORY } from '../../domain/kernel/json.ts';
import { type Batch, encodeBatch, snapshotFromJson, snapshotToJson } from '../../domain/kernel/chain.ts';

const FAILURES_MAX = 3;
const DISPOSE_MS = 2000;

/** The connection below a client, as gRPC tells of it. */
interface Channel {
  readonly getConnectivityState: (connect: boolean) => number;
  readonly watchConnectivityState: (from: number, deadline: number, told: () => void) => void;
  readonly close: () => void;
}

/** The client's protected members: only they tell whether its connection is the same. */
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
  /** The client while it is connected. */
  const now = (): EventStoreDBClient | undefined =>
    followed?.getConnectivityState(false) === READY ? client : undefined;
  const current = (): EventStoreDBClient => {
    const mine = (client ??= EventStoreDBClient.connectionString(connectionString));
    if (now() === undefined) void channelOf(mine).catch(() => undefined);
    return mine;
  };
  return {
    client: current,
    now,
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
export const disposed = async (client: EventStoreDBClient): Promise<void> => {
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

/**
 * What an append's error means. The client throws its own classes (with a `type`, often without a
 * message) and, right after a lost connection, raw gRPC errors (with a `code` only): both are looked at.
 * What is not surely a refusal leaves the outcome unknown.
 */
export const outcomeOf = (error: unknown): AppendResult => {
  const { type, code, actualVersion, detail } = membersOf(error);
  if (type === 'wrong-expected-version') {
    const actual = typeof actualVersion === 'bigint' && actualVersion >= 0n ? actualVersion : 'no_stream';
    return { kind: 'conflict', actual };
  }
  if (type === 'maximum-append-size-exceeded') return { kind: 'rejected', reason: 'too_large', detail };
  const refused = type === '' ? REFUSED_CODES.has(code) : REFUSED_TYPES.has(type);
  return refused ? { kind: 'rejected', reason: 'invalid', detail } : { kind: 'unknown', reason: detail };
};

const REFUSED_TYPES = new Set(['invalid-argument', 'access-denied', 'stream-deleted']);
/** INVALID_ARGUMENT, PERMISSION_DENIED, UNAUTHENTICATED. */
const REFUSED_CODES = new Set([3, 7, 16]);

const [PERMISSION_DENIED, UNAUTHENTICATED] = [7, 16];

interface Members {
  /** Empty for a raw gRPC error. */
  readonly type: string;
  /** -1 if there is none. */
  readonly code: number;
  readonly actualVersion: unknown;
  readonly detail: string;
}

const membersOf = (error: unknown): Members => {
  if (!(error instanceof Error))
    return { type: '', code: -1, actualVersion: undefined, detail: String(error) };
  const { type, code, actualVersion } = error as { type?: unknown; code?: unknown; actualVersion?: unknown };
  const typeText = typeof type === 'string' ? type : '';
  const codeNumber = typeof code === 'number' ? code : -1;
  const detail = error.message === '' ? `${typeText} (code ${codeNumber})` : error.message;
  return { type: typeText, code: codeNumber, actualVersion, detail };
};

/** The message of a client error, whose own may be empty. */
export const detailOf = (error: unknown): string => membersOf(error).detail;

/** The server does not know the user, or the password is another one. The client calls it a want of rights, too. */
const isUnknownUser = (error: unknown): boolean => membersOf(error).code === UNAUTHENTICATED;

/** The server said that the user may not. A read tells it as the cause of LogUnavailable. */
export const isDenied = (error: unknown): boolean => {
  const { type, code } = membersOf(error);
  if (error instanceof LogLoginRefused || code === UNAUTHENTICATED) return false;
  if (type === 'access-denied' || code === PERMISSION_DENIED) return true;
  return error instanceof Error && error.cause !== undefined && isDenied(error.cause);
};

const TYPE = 'AccountSnapshot';
/** Streams whose `$maxCount` this process has set; beyond this number it sets them again. */
const LIMITED_MAX = 10_000;

/** `accountSnapshot-<tenant>` for `account-<tenant>`: a stream of its own beside it. */
const snapshotStream = (stream: string): string => `${SNAPSHOT_CATEGORY}${stream.slice(stream.indexOf('-'))}`;

/** What snapshots need of the log that they lie in. */
interface SnapshotLog {
  readonly read: (stream: string, options: ReadOptions) => AsyncIterable<RecordedEvent>;
  readonly client: () => EventStoreDBClient;
  readonly timeoutMs: number;
  /** As of all appends: a point in time by our clock, far ahead. */
  readonly deadlineMs: number;
}

/**
 * Snapshots as the only event of a stream (`$maxCount` 1). Only here is an append made at any revision: the
 * last one stays, and one that is lost or written twice costs nothing.
 */
export const snapshotsIn = (log: SnapshotLog): SnapshotStore => {
  const limited = new Set<string>();
  const written = async (what: string, work: (client: EventStoreDBClient) => Promise<unknown>) => {
    try {
      await within(work(log.client()), { what, ms: log.timeoutMs });
    } catch (error) {
      const { kind } = outcomeOf(error);
      throw new Error(`${what} was not written (${kind}): ${detailOf(error)}`, { cause: error });
    }
  };
  const options = { expectedRevision: ANY, deadline: log.deadlineMs } as const;

  /** Before its first event: a stream that could not be limited would keep every snapshot. */
  const limit = async (stream: string): Promise<void> => {
    if (limited.has(stream)) return;
    await written(`the limit of ${stream}`, (client) =>
      client.setStreamMetadata(stream, { maxCount: 1 }, options),
    );
    if (limited.size >= LIMITED_MAX) limited.clear();
    limited.add(stream);
  };

  return {
    load: async (stream) => {
      const own = snapshotStream(stream);
      for await (const { data } of log.read(own, { direction: 'backwards', limit: 1 }))
        return snapshotFromJson(data);
      return undefined;
    },
    save: async (snapshot) => {
      const data = snapshotToJson(snapshot);
      if (Buffer.byteLength(JSON.stringify(data)) > SNAPSHOT_BYTES_MAX) return 'too_large';
      const own = snapshotStream(snapshot.stream);
      await limit(own);
      await written(own, (client) => client.appendToStream(own, jsonEvent({ type: TYPE, data }), options));
      return 'saved';
    },
  };
};

const APPEND_TIMEOUT_MS = 2500;
const READ_TIMEOUT_MS = 10_000;
/** Sent as a point in time by our clock: far enough ahead that a skew between clocks does not matter. */
const SERVER_DEADLINE_MS = 120_000;

export interface EventStoreDbOptions {
  /** `esdb://host:port?tls=false`; credentials, if any, stand in it. */
  readonly connectionString: string;
  readonly appendTimeoutMs?: number;
  /** For the next event of a read, and for the confirmation of a subscription. */
  readonly readTimeoutMs?: number;
  /** How long a node may answer without what others have, ms; left out: there is one node. */
  readonly behindMs?: number | undefined;
}

/** The log in EventStoreDB. */
export type EventStoreDb = EventStore & EventFeed & { readonly snapshots: SnapshotStore };

interface Store {
  readonly appends: Connection;
  readonly reads: Connection;
  readonly appendTimeoutMs: number;
  readonly readTimeoutMs: number;
  /** Aborts when a node that is asked is not the leader: what it is asked for longer goes to the other one, too. */
  elsewhere: AbortController;
}

/** Nothing is dialled before the first call. Throws on a connection string that makes no sense. */
export const openEventStoreDb = (options: EventStoreDbOptions): EventStoreDb => {
  const { connectionString, appendTimeoutMs = APPEND_TIMEOUT_MS, readTimeoutMs = READ_TIMEOUT_MS } = options;
  const { behindMs } = options;
  const reads = connection(connectionString);
  reads.client();
  const elsewhere = new AbortController();
  const appends = appendConnection(connectionString);
  const store: Store = { appends, reads, appendTimeoutMs, readTimeoutMs, elsewhere };
  const closing = new AbortController();

  return {
    snapshots: snapshotsIn({
      read: (stream, readOptions) => read(store, stream, readOptions),
      client: store.appends.client,
      timeoutMs: appendTimeoutMs,
      deadlineMs: SERVER_DEADLINE_MS,
    }),
    epoch: () => epochOf(store),
    append: (...[stream, expected, events, epoch]) => append(store, { stream, expected, events }, epoch),
    read: (stream, readOptions = {}) => read(store, stream, readOptions),
    subscribe: (subscribed) => {
      const subscribing = { options: subscribed, timeoutMs: readTimeoutMs };
      return counted(store, (client) =>
        subscribeToAll({
          ...subscribing,
          client,
          onConfirmed: () => reads.succeeded(client),
          closing: AbortSignal.any([closing.signal, store.elsewhere.signal]),
        }),
      );
    },
    ...(behindMs !== undefined && {
      unlessBehind: async (look, isKnown) => {
        const pause = patience(behindMs);
        for (;;) {
          const found = await look();
          if (isKnown(found) || !(await pause())) return found;
        }
      },
    }),
    backwards: (options) => readBackwards(store, options),
    head: () => head(store),
    end: () => end(store),
    close: async () => {
      closing.abort();
      await Promise.all([store.appends.close(), reads.close()]);
    },
  };
};

/** Either connection: over one the state was read that the other writes on. */
const epochOf = ({ appends, reads }: Store): number => appends.epoch() + reads.epoch();

const append = async (store: Store, batch: Batch, epoch?: number): Promise<AppendResult> => {
  const encoded = encodeBatch(batch);
  if (encoded.kind === 'rejected') return encoded;
  const { stream, expected } = batch;
  const { events, bytes } = encoded;
  const { appends } = store;
  const client = appends.client();
  const result = await sentOver(store, { stream, expected, events, bytes }, epoch).catch(outcomeOf);
  if (result.kind === 'unknown') appends.failed(client);
  else if (result.kind !== 'moved') appends.succeeded(client);
  return result;
};

/** The call for appends, once the client is connected. */
const callOver = async ({ appends, appendTimeoutMs: ms }: Store): Promise<AppendCall> => {
  const limit = { what: 'the connection for appends', ms };
  const client = await within(appends.ready(), limit);
  return within(openAppendCall(client), limit);
};

const sentOver = async (store: Store, sent: Sent, epoch?: number): Promise<AppendResult> => {
  const call = appendCallOf(store.appends.now()) ?? (await callOver(store));
  if (epoch !== undefined && epoch !== epochOf(store)) return { kind: 'moved' };
  const answer = await call.send(sent, store.appendTimeoutMs);
  if (answer.kind !== 'appended') return answer;
  const { revision, position } = answer;
  return {
    kind: 'appended',
    revision,
    position: position ?? (await positionAt(store, sent.stream, revision)),
  };
};

/** A repeated append may be answered without a position; the event itself has it. */
const positionAt = async (store: Store, stream: string, revision: bigint): Promise<bigint> => {
  for await (const event of read(store, stream, { from: revision, limit: 1 })) return event.position;
  throw new Error(`${stream} has no revision ${String(revision)}`);
};

async function* read(
  store: Store,
  stream: string,
  { from, direction = 'forwards', limit = Infinity }: ReadOptions,
): AsyncGenerator<RecordedEvent, void, void> {
  if (limit <= 0) return;
  const asked = { stream, place: from, isBackwards: direction === 'backwards', limit };
  for await (const one of asking(store, asked, `a read of ${stream}`)) {
    const event = one.kind === 'event' ? recorded(one.event) : undefined;
    if (event !== undefined) yield event;
  }
}

/** The server's answer to a read. A stream that it does not have is empty. */
const asking = (store: Store, asked: Asked, what: string) =>
  counted(store, (client) => served(client, asked, { what, ms: store.readTimeoutMs }));

/** What a read that failed tells its caller. */
const unread = (error: unknown): LogUnavailable =>
  isUnknownUser(error)
    ? new LogLoginRefused('EventStoreDB refuses the user or the password', { cause: error })
    : new LogUnavailable(`EventStoreDB cannot be read: ${detailOf(error)}`, { cause: error });

/** Ends what was asked of a node that is not the leader, and not what was asked of the leader since. */
const leaveNode = (store: Store, left: AbortController): void => {
  left.abort(new LeaderElsewhere());
  if (store.elsewhere === left) store.elsewhere = new AbortController();
};

/** Tells the connection how a read went. One that has given nothing yet is begun again while no leader answers. */
async function* counted<T>(
  store: Store,
  open: (client: EventStoreDBClient) => AsyncIterable<T>,
): AsyncGenerator<T, void, void> {
  const { reads } = store;
  const pause = patience(ELECTION_MS);
  for (let isBegun = false; ;) {
    const client = reads.client();
    const { elsewhere } = store;
    try {
      for await (const one of open(client)) {
        isBegun = true;
        yield one;
      }
      reads.succeeded(client);
      return;
    } catch (error) {
      const isMoved = isNotLeader(error);
      if (isMoved) leaveNode(store, elsewhere);
      else reads.failed(client);
      if (!isMoved || isBegun || !(await pause())) throw unread(error);
    }
  }
}

/** Events of the whole log from its end, or from a place in it. */
const backwardsOf = (store: Store, place: bigint | undefined, limit?: number) =>
  asking(store, { place, isBackwards: true, ...(limit !== undefined && { limit }) }, 'a read of $all');

const end = async (store: Store): Promise<bigint | undefined> => {
  for await (const one of backwardsOf(store, undefined, 1))
    if (one.kind === 'event') return one.event?.position ?? one.position;
  return undefined;
};

/** All of `$all` from its end, without what the server has written for itself. */
async function* readBackwards(
  store: Store,
  { before, signal }: BackwardsOptions,
): AsyncGenerator<RecordedEvent, void, void> {
  for await (const one of backwardsOf(store, before)) {
    if (signal?.aborted === true) return;
    if (one.kind !== 'event' || isSystem(one.event, { own: true })) continue;
    const event = recorded(one.event);
    if (event !== undefined && (before === undefined || event.position < before)) yield event;
  }
}

const HEAD_PAGE = 32;
const HEAD_PAGE_MAX = 8192;

/** Backwards from the end of `$all`, over what the server has written for itself. */
const head = async (store: Store): Promise<bigint | undefined> => {
  let from: bigint | undefined;
  for (let page = HEAD_PAGE; ; page = Math.min(page * 4, HEAD_PAGE_MAX)) {
    let seen = 0;
    for await (const one of backwardsOf(store, from, page)) {
      if (one.kind !== 'event') continue;
      if (!isSystem(one.event)) return one.event?.position;
      seen += 1;
      from = one.position ?? one.event?.position;
    }
    if (seen < page) return undefined;
  }
};
