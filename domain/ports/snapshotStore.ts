import type { JsonObject } from '../kernel/json.ts';

/** A folded state as of one revision: a cache, complete in itself, that may vanish at any time. */
export interface Snapshot {
  readonly stream: string;
  readonly revision: bigint;
  /** Chain hash of the event at `revision`. */
  readonly hash: string;
  /** Version of the code that folded it; another version ignores it. */
  readonly reducer_version: number;
  readonly state: JsonObject;
  /** SHA-256 of the canonical JSON of `state`. */
  readonly state_hash: string;
}

/** Where snapshots lie. One per stream and reducer version, and a newer one is never overwritten. */
export interface SnapshotStore {
  load(stream: string, reducerVersion: number): Promise<Snapshot | undefined>;
  save(snapshot: Snapshot): Promise<void>;
}
