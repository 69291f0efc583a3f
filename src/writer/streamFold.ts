import { canonicalJson, type ChainLink, followChain, sha256 } from '../../domain/kernel/chain.ts';
import type { Codec } from '../../domain/kernel/codec.ts';
import { knownAt } from '../../domain/eventLog/eventLog.ts';
import type { EventStore, SnapshotStore } from '../../domain/ports/log.ts';
import type { ExpectedRevision, RecordedEvent, Snapshot } from '../../domain/kernel/recorded.ts';
import type { EarlierEvents } from '../../domain/kernel/decider.ts';
import type { HistoryPage } from '../../domain/kernel/history.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';
import { digestsOf, loadPages } from './historyPages.ts';

/** A stream's state as of `revision`, with what the next append needs. */
export interface Folded<State> {
  readonly state: State;
  readonly revision: ExpectedRevision;
  /** Hash of the last event; null before the first. */
  readonly hash: string | null;
  /** Of the last event, where it was read; see `ChainLink`. */
  readonly hashVersion?: number | undefined;
  /** Position of the last event in the whole log, where known. */
  readonly position: bigint | undefined;
  /** When the last event was recorded, where it was read: nothing is recorded in the stream with an earlier time. */
  readonly recordedAt?: string | undefined;
}

/** Everything needed to read a stream and to verify it. */
export interface FoldRules<State, Event> {
  readonly initialState: State;
  /** As of a decider. */
  readonly saysAll?: boolean | undefined;
  readonly evolve: (state: State, event: Event) => State;
  /** As of a decider. */
  readonly recall?: ((state: State, earlier: EarlierEvents<Event>) => State) | undefined;
  readonly codec: Codec<Event>;
}

/** A stream that cannot be folded; names the first event that cannot be believed. */
export class UnreadableStream extends Error {
  override readonly name = 'UnreadableStream';
  readonly stream: string;
  readonly revision: bigint;
  constructor(recorded: RecordedEvent, reason: string, cause?: unknown) {
    super(`stream ${recorded.stream}, revision ${String(recorded.revision)}: ${reason}`, { cause });
    this.stream = recorded.stream;
    this.revision = recorded.revision;
  }
}

export const nothingYet = <State>(initialState: State): Folded<State> => ({
  state: initialState,
  revision: 'no_stream',
  hash: null,
  position: undefined,
});

/** Where the chain of a folded stream goes on. */
export const linkAfter = ({
  revision,
  hash,
  hashVersion,
}: Pick<Folded<unknown>, 'revision' | 'hash' | 'hashVersion'>): ChainLink => ({
  nextRevision: revision === 'no_stream' ? 0n : revision + 1n,
  hash,
  hashVersion,
});

/** Where the last event of a stream goes on from, as itself says: the events before it are not needed. */
const beforeLast = async <State, Event>(
  { rules, store, stream }: FoldSource<State, Event>,
  nothing: Folded<State>,
): Promise<Folded<State>> => {
  for await (const { revision, metadata } of store.read(stream, { direction: 'backwards', limit: 1 })) {
    const { prev_hash } = metadata;
    if (revision > 0n && typeof prev_hash === 'string')
      return { ...nothingYet(rules.initialState), revision: revision - 1n, hash: prev_hash };
  }
  return nothing;
};

/**
 * Folds the events after `from`, checking each link of the chain. Returns `from` itself if there is
 * nothing new. `seen` gets each event's command.
 */
export const foldForward = async <State, Event>(
  source: FoldSource<State, Event>,
  from: Folded<State>,
): Promise<Folded<State>> => {
  const { rules, store, stream, seen } = source;
  const epoch = epochOf(store);
  const isCold = rules.saysAll === true && from.revision === 'no_stream';
  let folded = isCold ? await beforeLast(source, from) : from;
  const start = folded.revision === 'no_stream' ? 0n : folded.revision + 1n;
  for await (const recorded of store.read(stream, { from: start })) {
    folded = foldOne(rules, folded, recorded);
    if (seen !== undefined) seen(causationOf(recorded));
  }
  noteSeen(store, { stream, folded, epoch });
  return folded;
};

/** The connection to the log now. */
export const epochOf = ({ epoch }: Pick<EventStore, 'epoch'>): number => epoch?.() ?? 0;

interface Read {
  readonly stream: string;
  readonly folded: Folded<unknown>;
  readonly epoch: number;
}

/** Folded events may be remembered: noted as known to this process. */
const noteSeen = ({ seen }: EventStore, { stream, folded, epoch }: Read): void => {
  const { revision, hash, position } = folded;
  if (seen === undefined || revision === 'no_stream' || hash === null || position === undefined) return;
  seen.note({ stream, revision, position, hash }, epoch);
};

/** The state of a stream as the log has it now. */
export const stateIn = async <State, Event>(
  store: EventStore,
  stream: string,
  rules: FoldRules<State, Event>,
): Promise<State> => (await foldForward({ rules, store, stream }, nothingYet(rules.initialState))).state;

/** The log does not have an event that this process knows: it was replaced, or a node that is behind answers. */
export class LogContradicts extends Error {
  override readonly name = 'LogContradicts';
  constructor(stream: string, revision: bigint) {
    super(`stream ${stream} does not have revision ${String(revision)} as this process knows it`);
  }
}

/** As `foldForward`, after making sure that the log still has the last event that was folded. */
export const foldOn = async <State, Event>(
  { rules, store, stream, seen }: FoldSource<State, Event>,
  from: Folded<State>,
): Promise<Folded<State>> => {
  const { revision } = from;
  if (revision === 'no_stream') return foldForward({ rules, store, stream, ...(seen && { seen }) }, from);
  let folded = from;
  const epoch = epochOf(store);
  let isKnown = false;
  for await (const recorded of store.read(stream, { from: revision })) {
    if (isKnown) {
      folded = foldOne(rules, folded, recorded);
      seen?.(causationOf(recorded));
    } else if (recorded.revision !== revision || hashOf(recorded) !== from.hash)
      throw new LogContradicts(stream, revision);
    isKnown = true;
  }
  if (!isKnown) return foldOnLater({ rules, store, stream, ...(seen && { seen }) }, from);
  noteSeen(store, { stream, folded, epoch });
  return folded;
};

/** The stream ends before the last event that was folded: the same once the node that was behind has it. */
const foldOnLater = async <State, Event>(
  source: FoldSource<State, Event>,
  from: Folded<State>,
): Promise<Folded<State>> => {
  const { store, stream } = source;
  const revision = from.revision === 'no_stream' ? 0n : from.revision;
  const known = { stream, revision };
  const isLate = store.unlessBehind !== undefined;
  if (!isLate || (await knownAt(store, known, (found) => found !== undefined)) === undefined)
    throw new LogContradicts(stream, revision);
  return foldOn(source, from);
};

export interface FoldSource<State, Event> {
  readonly rules: FoldRules<State, Event>;
  readonly store: EventStore;
  readonly stream: string;
  readonly seen?: (commandId: string) => void;
}

const foldOne = <State, Event>(
  rules: FoldRules<State, Event>,
  folded: Folded<State>,
  recorded: RecordedEvent,
): Folded<State> => {
  const step = followChain(linkAfter(folded), recorded);
  if (step.kind === 'broken')
    throw new UnreadableStream(recorded, `the hash chain is broken: ${step.at.detail}`);
  return {
    state: stateAfter(rules, folded.state, recorded),
    revision: recorded.revision,
    hash: step.link.hash,
    hashVersion: step.link.hashVersion,
    position: recorded.position,
    recordedAt: laterTime(folded.recordedAt, recordedAtOf(recorded)),
  };
};

/** When an event was recorded, as it says; undefined where it says none. */
const recordedAtOf = ({ metadata }: Pick<RecordedEvent, 'metadata'>): string | undefined => {
  const at = metadata['recorded_at'];
  return typeof at === 'string' ? at : undefined;
};

/** The later of two times in the one form that times have in the log. */
const laterTime = (a: string | undefined, b: string | undefined): string | undefined =>
  a === undefined || (b !== undefined && b > a) ? b : a;

const stateAfter = <State, Event>(
  rules: FoldRules<State, Event>,
  state: State,
  recorded: RecordedEvent,
): State => {
  try {
    return rules.evolve(state, rules.codec.decode(recorded));
  } catch (error) {
    throw new UnreadableStream(recorded, `the event cannot be read: ${String(error)}`, error);
  }
};

/** The chain hash that an event carries; empty text when it carries none. */
export const hashOf = ({ metadata }: Pick<RecordedEvent, 'metadata'>): string =>
  typeof metadata['hash'] === 'string' ? metadata['hash'] : '';

const causationOf = ({ metadata }: RecordedEvent): string =>
  typeof metadata['causation_id'] === 'string' ? metadata['causation_id'] : '';

/** The state of one small stream that everyone reads. */
interface CachedStream<State> {
  /** As of the log at most `maxAgeMs` ago. Readers share one read. */
  current(): Promise<State>;
  /** Reads forward now. */
  refresh(): Promise<State>;
  /** Reads from the start next time: the log is another one. */
  forget(): void;
}

export const cachedStream = <State, Event>(
  {
    store,
    stream,
    maxAgeMs,
  }: { readonly store: EventStore; readonly stream: string; readonly maxAgeMs: number },
  rules: FoldRules<State, Event>,
): CachedStream<State> => {
  let folded: Folded<State> = nothingYet(rules.initialState);
  let readAt = -Infinity;
  let reading: Promise<State> | undefined;

  let age = 0;

  const read = async (): Promise<State> => {
    const [startedAt, asOf] = [performance.now(), age];
    const found = await foldOn({ rules, store, stream }, folded).catch((error: unknown) => {
      if (error instanceof LogContradicts) folded = nothingYet(rules.initialState);
      throw error;
    });
    if (asOf === age) [folded, readAt] = [found, startedAt];
    return found.state;
  };
  const share = (): Promise<State> => {
    if (reading !== undefined) return reading;
    const begun = read().finally(() => {
      if (reading === begun) reading = undefined;
    });
    reading = begun;
    return begun;
  };
  return {
    current: () => (performance.now() - readAt <= maxAgeMs ? Promise.resolve(folded.state) : share()),
    refresh: async () => {
      // A read under way may have begun before what the caller wants to see.
      await reading?.catch(() => undefined);
      return share();
    },
    forget: () => {
      age += 1;
      [folded, readAt, reading] = [nothingYet(rules.initialState), -Infinity, undefined];
    },
  };
};

/** How one event of the log confirms a state. `silent`: nothing to compare; ask the one before it. */
export type Proof = 'agrees' | 'contradicts' | 'silent';

/** How a state becomes a snapshot and back. */
export interface SnapshotRules<State, Event> {
  readonly store: SnapshotStore;
  readonly reducerVersion: number;
  /** All of a state but its pages. */
  readonly toJson: (state: State) => JsonObject;
  readonly pagesOf: (state: State) => readonly HistoryPage[];
  readonly fromJson: (json: JsonObject, pages: readonly HistoryPage[]) => State;
  /** Holds a state against its last event, at `last`, then against earlier ones until one is not `silent`. */
  readonly proof: (state: State, event: Event, last: bigint | undefined) => Proof;
  /** Events after the last snapshot before another is taken. */
  readonly everyEvents: number;
  /** How much there is to write: a larger state is saved less often, so that the cost stays a share. */
  readonly sizeOf: (state: State) => number;
  /** A larger state is not saved at all: writing it would hold everyone up. */
  readonly sizeMax: number;
}

/** Why a snapshot was not used: it cannot be read, it is not what was saved, or the log says otherwise. */
export type SnapshotFlaw =
  | 'unreadable'
  | 'other_stream'
  | 'digest'
  | 'page'
  | 'no_event'
  | 'hash'
  | 'balance';

export const SNAPSHOT_FLAWS: readonly SnapshotFlaw[] = [
  'unreadable',
  'other_stream',
  'digest',
  'page',
  'no_event',
  'hash',
  'balance',
];

/** A snapshot that the log confirms, as the start of a fold; undefined if there is none for this release. */
const trustedSnapshot = async <State, Event>(
  source: FoldSource<State, Event>,
  rules: SnapshotRules<State, Event>,
): Promise<Folded<State> | SnapshotFlaw | undefined> => {
  let snapshot: Snapshot | undefined;
  try {
    snapshot = await rules.store.load(source.stream);
  } catch {
    return 'unreadable';
  }
  if (snapshot === undefined || snapshot.reducer_version !== rules.reducerVersion) return undefined;
  if (snapshot.stream !== source.stream) return 'other_stream';
  if (digestOf(snapshot.state) !== snapshot.state_hash) return 'digest';
  const pages = await loadPages(rules.store, source.stream, snapshot.state['pages']);
  return pages === undefined ? 'page' : confirmed(source, rules, { ...snapshot, pages });
};

/** The event that comes next on the way back. */
interface Expected {
  readonly revision: bigint;
  readonly hash: string | null;
}

/**
 * Walks the log backwards from the snapshot's revision, each event by the hash that the later one names, to
 * the first that says what the balance was. That is one event or two, unless an account only holds and
 * releases.
 */
const confirmed = async <State, Event>(
  source: FoldSource<State, Event>,
  rules: SnapshotRules<State, Event>,
  snapshot: Snapshot & { readonly pages: readonly HistoryPage[] },
): Promise<Folded<State> | SnapshotFlaw> => {
  const state = orUndefined(() => rules.fromJson(snapshot.state, snapshot.pages));
  if (state === undefined) return 'unreadable';
  const { revision, hash } = snapshot;
  let expected: Expected = { revision, hash };
  let [position, recordedAt]: [bigint | undefined, string | undefined] = [undefined, undefined];
  for await (const recorded of backwards(source, revision)) {
    if (recorded.revision !== expected.revision) return 'no_event';
    if (!isLinked(recorded, expected.hash)) return 'hash';
    position ??= recorded.position;
    recordedAt ??= recordedAtOf(recorded);
    const last = recorded.revision === revision ? revision : undefined;
    const proof = orUndefined(() => rules.proof(state, source.rules.codec.decode(recorded), last));
    if (proof === 'agrees') return { state, revision, hash, position, recordedAt };
    if (proof !== 'silent') return 'balance';
    expected = { revision: recorded.revision - 1n, hash: prevHashOf(recorded) };
  }
  return 'no_event';
};

const PAGE_MAX = 512;

/** In pages that grow: mostly the first event is all that is asked for. */
async function* backwards<State, Event>(
  { store, stream }: FoldSource<State, Event>,
  from: bigint,
): AsyncGenerator<RecordedEvent, void, void> {
  let next = from;
  for (let limit = 1; next >= 0n; limit = Math.min(limit * 8, PAGE_MAX)) {
    const before = next;
    for await (const recorded of store.read(stream, { from: next, limit, direction: 'backwards' })) {
      yield recorded;
      next = recorded.revision - 1n;
    }
    if (next === before) return;
  }
}

const prevHashOf = ({ metadata }: RecordedEvent): string | null =>
  typeof metadata['prev_hash'] === 'string' ? metadata['prev_hash'] : null;

/** The event carries the hash that is expected of it, and its content has that hash. */
export const isLinked = (recorded: RecordedEvent, hash: string | null): boolean => {
  const step = followChain({ nextRevision: recorded.revision, hash: prevHashOf(recorded) }, recorded);
  return step.kind === 'linked' && step.link.hash === hash;
};

/** A state or an event of another shape than this release's cannot be compared. */
const orUndefined = <T>(work: () => T): T | undefined => {
  try {
    return work();
  } catch {
    return undefined;
  }
};

const digestOf = (state: JsonObject): string => sha256(canonicalJson(state));

/** The snapshot of a folded stream, which names its pages; undefined while it has no event. */
export const snapshotOf = <State, Event>(
  stream: string,
  { state, revision, hash }: Folded<State>,
  { reducerVersion, toJson, pagesOf }: Omit<SnapshotRules<State, Event>, 'store'>,
): Snapshot | undefined => {
  if (revision === 'no_stream' || hash === null) return undefined;
  const json = { ...toJson(state), pages: [...digestsOf(pagesOf(state))] };
  return { stream, revision, hash, reducer_version: reducerVersion, state: json, state_hash: digestOf(json) };
};

/** A stream that was brought into memory. */
interface Loaded<State> {
  readonly folded: Folded<State>;
  /** Revision of the snapshot it was folded from; undefined: every event was read. */
  readonly snapshot: bigint | undefined;
  /** Why the snapshot that is there was not used. */
  readonly flaw: SnapshotFlaw | undefined;
}

/** Snapshot + the events after it; without a snapshot that the log confirms, all events. */
export const coldLoad = async <State, Event>(
  source: FoldSource<State, Event>,
  snapshots: SnapshotRules<State, Event> | undefined,
): Promise<Loaded<State>> => {
  const found = snapshots === undefined ? undefined : await trustedSnapshot(source, snapshots);
  const start = typeof found === 'object' ? found : undefined;
  const folded = await foldForward(source, start ?? nothingYet(source.rules.initialState));
  const snapshot = start === undefined || start.revision === 'no_stream' ? undefined : start.revision;
  return { folded, snapshot, flaw: typeof found === 'string' ? found : undefined };
};
