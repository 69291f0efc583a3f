import { canonicalJson, sha256 } from '../../domain/kernel/chain.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';
import type { Snapshot, SnapshotStore } from '../../domain/ports/snapshotStore.ts';
import { foldForward, hashOf, nothingYet, type Folded, type FoldSource } from './streamFold.ts';

/** How a state becomes a snapshot and back. */
export interface SnapshotRules<State> {
  readonly store: SnapshotStore;
  readonly reducerVersion: number;
  readonly toJson: (state: State) => JsonObject;
  readonly fromJson: (json: JsonObject) => State;
  /** Events after the last snapshot before another is taken. */
  readonly everyEvents: number;
  /** How much there is to write: a larger state is saved less often, so that the cost stays a share. */
  readonly sizeOf: (state: State) => number;
  /** A larger state is not saved at all: writing it would hold everyone up. */
  readonly sizeMax: number;
}

/** Snapshot + the events after it; without a snapshot that can be trusted, all events. */
export const coldLoad = async <State, Event>(
  source: FoldSource<State, Event>,
  snapshots: SnapshotRules<State> | undefined,
): Promise<Folded<State>> => {
  const start = snapshots === undefined ? undefined : await trustedSnapshot(source, snapshots);
  return foldForward(source, start ?? nothingYet(source.rules.initialState));
};

/** undefined for whatever is wrong with it: a snapshot may save time, it never decides. */
const trustedSnapshot = async <State, Event>(
  { store, stream }: FoldSource<State, Event>,
  { store: snapshots, reducerVersion, fromJson }: SnapshotRules<State>,
): Promise<Folded<State> | undefined> => {
  const snapshot = await snapshots.load(stream, reducerVersion).catch(() => undefined);
  if (snapshot === undefined || digestOf(snapshot.state) !== snapshot.state_hash) return undefined;
  for await (const last of store.read(stream, { from: snapshot.revision, limit: 1 })) {
    if (last.revision !== snapshot.revision || hashOf(last) !== snapshot.hash) return undefined;
    const { revision, hash } = snapshot;
    return { state: fromJson(snapshot.state), revision, hash, position: last.position };
  }
  return undefined;
};

const digestOf = (state: JsonObject): string => sha256(canonicalJson(state));

/** The snapshot of a folded stream; undefined while it has no event. */
export const snapshotOf = <State>(
  stream: string,
  { state, revision, hash }: Folded<State>,
  { reducerVersion, toJson }: SnapshotRules<State>,
): Snapshot | undefined => {
  if (revision === 'no_stream' || hash === null) return undefined;
  const json = toJson(state);
  return { stream, revision, hash, reducer_version: reducerVersion, state: json, state_hash: digestOf(json) };
};
