import { canonicalJson, followChain, sha256 } from '../../../domain/kernel/chain.ts';
import type { JsonObject } from '../../../domain/kernel/json.ts';
import type { RecordedEvent, Snapshot, SnapshotStore } from '../../../domain/ports/log.ts';
import { foldForward, nothingYet, type Folded, type FoldSource } from './streamFold.ts';

/** What one event of the log says of a state. `silent`: nothing that could be compared; ask the one before it. */
export type Proof = 'agrees' | 'contradicts' | 'silent';

/** How a state becomes a snapshot and back. */
export interface SnapshotRules<State, Event> {
  readonly store: SnapshotStore;
  readonly reducerVersion: number;
  readonly toJson: (state: State) => JsonObject;
  readonly fromJson: (json: JsonObject) => State;
  /** Holds a state against its last event, then against earlier ones until one is not `silent`. */
  readonly proof: (state: State, event: Event, isLast: boolean) => Proof;
  /** Events after the last snapshot before another is taken. */
  readonly everyEvents: number;
  /** How much there is to write: a larger state is saved less often, so that the cost stays a share. */
  readonly sizeOf: (state: State) => number;
  /** A larger state is not saved at all: writing it would hold everyone up. */
  readonly sizeMax: number;
}

/** Why a snapshot was not used: it cannot be read, it is not what was saved, or the log says otherwise. */
export type SnapshotFlaw = 'unreadable' | 'other_stream' | 'digest' | 'no_event' | 'hash' | 'balance';

export const SNAPSHOT_FLAWS: readonly SnapshotFlaw[] = [
  'unreadable',
  'other_stream',
  'digest',
  'no_event',
  'hash',
  'balance',
];

/** A snapshot that the log confirms, as the start of a fold; undefined where there is none for this release. */
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
  return confirmed(source, rules, snapshot);
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
  snapshot: Snapshot,
): Promise<Folded<State> | SnapshotFlaw> => {
  const state = orUndefined(() => rules.fromJson(snapshot.state));
  if (state === undefined) return 'unreadable';
  const { revision, hash } = snapshot;
  let expected: Expected = { revision, hash };
  let position: bigint | undefined;
  for await (const recorded of backwards(source, revision)) {
    if (recorded.revision !== expected.revision) return 'no_event';
    if (!isLinked(recorded, expected.hash)) return 'hash';
    position ??= recorded.position;
    const isLast = recorded.revision === revision;
    const proof = orUndefined(() => rules.proof(state, source.rules.codec.decode(recorded), isLast));
    if (proof === 'agrees') return { state, revision, hash, position };
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
const isLinked = (recorded: RecordedEvent, hash: string | null): boolean => {
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

/** The snapshot of a folded stream; undefined while it has no event. */
export const snapshotOf = <State, Event>(
  stream: string,
  { state, revision, hash }: Folded<State>,
  { reducerVersion, toJson }: SnapshotRules<State, Event>,
): Snapshot | undefined => {
  if (revision === 'no_stream' || hash === null) return undefined;
  const json = toJson(state);
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
