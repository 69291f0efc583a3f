import { markOf, seenEvents, type SeenEvents, type Witness } from '../../domain/eventLog/witness.ts';
import { sha256 } from '../../domain/kernel/chain.ts';
import { canonicalJson, isHidden, isLeftOut } from '../../domain/kernel/json.ts';
import {
  type AppendResult,
  type EventStore,
  type ExpectedRevision,
  type FeedItem,
  type FeedOptions,
  type KnownLog,
  LogUnavailable,
  type NewEvent,
  type ReadOptions,
  type RecordedEvent,
  type Snapshot,
  type SnapshotStore,
} from '../../domain/ports/log.ts';
import type {
  ListedObject,
  ObjectStore,
  ReplayBegin,
  ReplayLease,
  ReplayScope,
  ReplayStore,
} from '../../domain/ports/services.ts';
import { EPOCH_MS, type Scheduler } from './scheduler.ts';

export type SimLog = EventStore & KnownLog & { readonly seen: SeenEvents };

interface StoredObject {
  readonly bytes: Uint8Array;
  readonly at: number;
}

interface Replay {
  readonly fingerprint: string;
  readonly owner: string;
  readonly expires_at_ms: number;
  readonly answer: { readonly status: number; readonly body: string } | null;
  /** What its process knew of the log when it answered. */
  readonly standsOn: readonly Witness[];
}

const keyOf = ({ tenant_id, endpoint, idempotency_key }: ReplayScope): string =>
  [tenant_id, endpoint, idempotency_key].join('\u001f');

/**
 * What all processes share, and what outlives them: the log, objects, the replay store, files that were sent.
 * `positionsApart`: from one event of the log to the next.
 */
export const sharedStores = (positionsApart = 1n) => {
  const shared = {
    /** How often the log was put back: each time all connections to it were lost. */
    epoch: 0,
    events: [] as RecordedEvent[],
    streams: new Map<string, RecordedEvent[]>(),
    objects: new Map<string, StoredObject>(),
    replays: new Map<string, Replay>(),
    /** One of each stream, and which release took it. */
    snapshots: new Map<string, { readonly snapshot: Snapshot; readonly release: number }>(),
    /** Files on local disks, by path. */
    files: new Map<string, Uint8Array>(),
    /** Told of each event when it is written, and of each object when it is put. */
    onEvent: (_event: RecordedEvent): void => undefined,
    onPut: (_key: string): void => undefined,
    /** Told of each object before it is removed. */
    onRemove: (_key: string): void => undefined,
    /** What a Redis of all processes has: when each bucket of a limit is full again, virtual ms. */
    limits: new Map<string, number>(),
    append: (stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): AppendResult => {
      const past = shared.streams.get(stream) ?? [];
      const current = past.length - 1;
      const at = expected === 'no_stream' ? -1 : Number(expected);
      if (current < at) return { kind: 'conflict', actual: actualOf(past) };
      if (current > at) return repeated(past, at, events);
      shared.streams.set(stream, past);
      for (const { id, type, data, metadata } of events) {
        const [revision, position] = [BigInt(past.length), positionsApart * BigInt(shared.events.length + 1)];
        const event = { id, type, data, metadata, stream, revision, position };
        past.push(event);
        shared.events.push(event);
        shared.onEvent(event);
      }
      const last = past.at(-1)!;
      return { kind: 'appended', revision: last.revision, position: last.position };
    },
    read: (stream: string, { from, direction, limit = Infinity }: ReadOptions): readonly RecordedEvent[] => {
      const past = shared.streams.get(stream) ?? [];
      if (direction !== 'backwards') return past.slice(Number(from ?? 0n), Number(from ?? 0n) + limit);
      return past
        .slice(0, from === undefined ? past.length : Number(from) + 1)
        .reverse()
        .slice(0, limit);
    },
    /** Takes away all events but the first `kept`. */
    cutLog: (kept: number): void => {
      shared.epoch += 1;
      shared.events = shared.events.slice(0, kept);
      shared.streams = new Map();
      for (const event of shared.events) {
        const past = shared.streams.get(event.stream);
        if (past === undefined) shared.streams.set(event.stream, [event]);
        else past.push(event);
      }
    },
    /** A copy of what lies in the log, the object store and the replay store. */
    copy: () => ({
      events: shared.events.length,
      objects: new Map(shared.objects),
      replays: new Map(shared.replays),
    }),
    put: (key: string, bytes: Uint8Array, at: number): void => {
      shared.objects.set(key, { bytes, at });
      shared.onPut(key);
    },
    remove: (key: string): void => {
      shared.onRemove(key);
      shared.objects.delete(key);
    },
  };
  return shared;
};

export type Shared = ReturnType<typeof sharedStores>;

const actualOf = (past: readonly RecordedEvent[]): ExpectedRevision =>
  past.length === 0 ? 'no_stream' : BigInt(past.length - 1);

/** The same IDs from `at` + 1 on are a repeat; anything else is a conflict. */
const repeated = (past: readonly RecordedEvent[], at: number, events: readonly NewEvent[]): AppendResult => {
  const there = past.slice(at + 1, at + 1 + events.length);
  const last = there.at(-1);
  const same = there.length === events.length && there.every(({ id }, i) => id === events[i]?.id);
  if (!same || last === undefined) return { kind: 'conflict', actual: actualOf(past) };
  return { kind: 'appended', revision: last.revision, position: last.position };
};

type Call = Scheduler['call'];

async function* each<T>(items: Promise<readonly T[]>): AsyncGenerator<T> {
  yield* await items;
}

const logFails = (reason: string): never => {
  throw new LogUnavailable(`the log: ${reason}`);
};

/** The log, each call of which waits for its turn. A read sees one moment. */
export const logOf = (shared: Shared, call: Call): SimLog => {
  const epochNow = () => shared.epoch;
  const seen = seenEvents(epochNow);
  const asked = <T>(label: string, effect: () => T): Promise<T> =>
    call({ label, effect, failed: logFails, never: ['slow', 'late'] });
  const feed = async function* (options: FeedOptions): AsyncGenerator<FeedItem> {
    const { after = -1n } = options;
    const found = await asked('log.subscribe', () =>
      shared.events.filter(({ position, stream }) => position > after && !isLeftOut(stream, options)),
    );
    for (const event of found) yield { kind: 'event', event };
    yield { kind: 'caught_up' };
  };
  return {
    epoch: epochNow,
    seen,
    // eslint-disable-next-line max-params -- the port has them
    append: async (stream, expected, events, epoch) => {
      const result = await call({
        label: `log.append ${stream} ${events.map(({ type }) => type).join('+')}`,
        effect: (): AppendResult =>
          epoch === undefined || epoch === shared.epoch
            ? shared.append(stream, expected, events)
            : { kind: 'moved' },
        failed: (reason): AppendResult => ({ kind: 'unknown', reason }),
      });
      const last = events.at(-1);
      if (result.kind === 'appended' && last !== undefined) {
        const { revision, position } = result;
        seen.note({ stream, revision, position, hash: markOf(last) }, epoch ?? shared.epoch);
      }
      return result;
    },
    read: (stream, options = {}) => each(asked(`log.read ${stream}`, () => shared.read(stream, options))),
    subscribe: feed,
    backwards: () => each(asked('log.backwards', () => shared.events.toReversed())),
    head: () => asked('log.head', () => shared.events.findLast(({ stream }) => !isHidden(stream))?.position),
    end: () => asked('log.end', () => shared.events.at(-1)?.position),
    close: () => Promise.resolve(),
  };
};

const objectsFail = (reason: string): never => {
  throw new Error(`the object store: ${reason}`);
};

/** The object store, each call of which waits for its turn. */
export const objectsOf = (
  shared: Shared,
  { call, nowMs }: Pick<Scheduler, 'call' | 'nowMs'>,
): ObjectStore => {
  const asked = <T>(label: string, effect: () => T): Promise<T> =>
    call({ label: `objects.${label}`, effect, failed: objectsFail });
  const put = (key: string, bytes: Uint8Array) => shared.put(key, bytes, nowMs());
  const listed = (prefix: string): readonly ListedObject[] =>
    [...shared.objects]
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, { bytes, at }]) => ({
        key,
        bytes: bytes.byteLength,
        modified_at: new Date(EPOCH_MS + at).toISOString(),
      }));
  return {
    put: (key, bytes) => asked(`put ${key}`, () => put(key, bytes)),
    putFile: (key, path) =>
      asked(`putFile ${key}`, () => {
        const bytes = shared.files.get(path);
        if (bytes === undefined) throw new Error(`there is no file ${path}`);
        put(key, bytes);
      }),
    get: (key) => asked(`get ${key}`, () => shared.objects.get(key)?.bytes),
    open: (key) =>
      asked(`open ${key}`, () => {
        const found = shared.objects.get(key);
        return found && each(Promise.resolve([found.bytes]));
      }),
    list: (prefix) => each(asked(`list ${prefix}`, () => listed(prefix))),
    remove: (key) => asked(`remove ${key}`, () => shared.remove(key)),
    check: () => Promise.resolve(),
  };
};

const replaysFail = (reason: string): never => {
  throw new Error(`the replay store: ${reason}`);
};

/** The replay store; `nowMs` is the wall clock of the process that asks, as in the real one. */
export const replaysOf = (
  shared: Shared,
  { call }: Pick<Scheduler, 'call'>,
  {
    nowMs,
    owner,
    seen,
  }: { readonly nowMs: () => number; readonly owner: () => string; readonly seen: SeenEvents },
): ReplayStore => {
  const asked = <T>(label: string, effect: () => T): Promise<T> =>
    call({ label: `replays.${label}`, effect, failed: replaysFail });
  const begin = (scope: ReplayScope, fingerprint: string, until: number): ReplayBegin => {
    const key = keyOf(scope);
    const found = shared.replays.get(key);
    const isThereStill = ({ stream, revision, hash }: Witness): boolean => {
      const event = shared.streams.get(stream)?.[Number(revision)];
      return event !== undefined && markOf(event) === hash;
    };
    const isLost = found !== undefined && !found.standsOn.every(isThereStill);
    if (found === undefined || found.expires_at_ms <= nowMs() || isLost) {
      const lease = { scope, owner: owner(), losses: seen.losses() };
      const own = { fingerprint, owner: lease.owner, expires_at_ms: until, answer: null };
      shared.replays.set(key, { ...own, standsOn: [] });
      return { kind: 'started', lease };
    }
    if (found.fingerprint !== fingerprint) return { kind: 'reused' };
    if (found.answer !== null) return { kind: 'replay', ...found.answer };
    return { kind: 'in_progress', left_ms: found.expires_at_ms - nowMs() };
  };
  /** Only a run that still has its lease changes anything. */
  const changed = (lease: ReplayLease, change: (own: Replay) => Replay | undefined): boolean => {
    const key = keyOf(lease.scope);
    const own = shared.replays.get(key);
    if (own?.owner !== lease.owner || own.answer !== null) return false;
    const next = change(own);
    if (next === undefined) shared.replays.delete(key);
    else shared.replays.set(key, next);
    return true;
  };
  return {
    begin: (scope, fingerprint, leaseMs) => {
      const until = nowMs() + leaseMs;
      return asked('begin', () => begin(scope, fingerprint, until));
    },
    renew: (lease, leaseMs) =>
      asked('renew', () => changed(lease, (own) => ({ ...own, expires_at_ms: nowMs() + leaseMs }))),
    complete: (lease, { status, body, keepMs }) =>
      asked('complete', () =>
        changed(lease, (own) =>
          lease.losses === seen.losses()
            ? { ...own, answer: { status, body }, expires_at_ms: nowMs() + keepMs, standsOn: seen.all() }
            : undefined,
        ),
      ),
    abandon: (lease) => asked('abandon', () => void changed(lease, () => undefined)),
    forget: (tenantId) =>
      asked('forget', () => {
        for (const [key, { answer }] of shared.replays)
          if (answer !== null && key.startsWith(`${tenantId}\u001f`)) shared.replays.delete(key);
      }),
    purge: () => Promise.resolve(0),
  };
};

/** As a release has it that counts no free pages and remembers no work that is over. */
const asOtherReleaseHasIt = ({ state, ...snapshot }: Snapshot): Snapshot => {
  const other = { ...state, free_pages_used: 0, operations: [], closed: [], closed_count: 0 };
  const reducer_version = snapshot.reducer_version + 1;
  return { ...snapshot, reducer_version, state: other, state_hash: sha256(canonicalJson(other)) };
};

/** Snapshots, of which two releases replace each other's. A log that is put back does not take its own along. */
export const snapshotsOf = (
  shared: Shared,
  { call }: Pick<Scheduler, 'call'>,
  release: number,
): SnapshotStore => {
  const asked = <T>(label: string, effect: () => T): Promise<T> =>
    call({ label: `snapshots.${label}`, effect, failed: logFails });
  return {
    load: (stream) =>
      asked('load', () => {
        const found = shared.snapshots.get(stream);
        return found?.release === release || found === undefined
          ? found?.snapshot
          : asOtherReleaseHasIt(found.snapshot);
      }),
    save: (snapshot) =>
      asked('save', () => {
        shared.snapshots.set(snapshot.stream, { snapshot, release });
        return 'saved' as const;
      }),
  };
};

/** Sealed is what names its owner: what another's seal lies in the place of is not opened. */
export const secrets = {
  seal: (text: string, { tenant_id, secret_id }: { tenant_id: string; secret_id: string }) =>
    new TextEncoder().encode(JSON.stringify([tenant_id, secret_id, text])),
  open: (sealed: Uint8Array, { tenant_id, secret_id }: { tenant_id: string; secret_id: string }) => {
    const [tenant, id, text] = JSON.parse(new TextDecoder().decode(sealed)) as [string, string, string];
    const fits = tenant === tenant_id && id === secret_id;
    return fits ? ({ kind: 'opened', text, isCurrent: true } as const) : ({ kind: 'tampered' } as const);
  },
};
