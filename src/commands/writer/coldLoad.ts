import { foldForward, nothingYet, type Folded, type FoldSource } from './streamFold.ts';
import { trustedSnapshot, type SnapshotFlaw, type SnapshotRules } from './trustedSnapshot.ts';

/** A stream that was brought into memory. */
export interface Loaded<State> {
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
