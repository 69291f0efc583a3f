import type { JsonObject } from '../kernel/json.ts';
import { APPEND_BYTES_MAX } from './eventStore.ts';

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

/**
 * Where snapshots lie: beside the log, so that whoever can change one could change the log as well. The last
 * one saved for a stream stays; an older one costs a few more events to fold, and nothing else.
 */
export interface SnapshotStore {
  /** undefined: there is none. Rejects where the store cannot be read, or what it holds is no snapshot. */
  load(stream: string): Promise<Snapshot | undefined>;
  /** Rejects where the store cannot be written. */
  save(snapshot: Snapshot): Promise<'saved' | 'too_large'>;
}

/** Largest snapshot that any log takes, in bytes of JSON. */
export const SNAPSHOT_BYTES_MAX = APPEND_BYTES_MAX;
