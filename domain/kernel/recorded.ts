import type { JsonObject } from './json.ts';

/** The JSON of an event, made once: what was hashed is what a log stores. */
export interface EventText {
  readonly data: string;
  readonly metadata: string;
  /** Of both, in UTF-8. */
  readonly bytes: number;
}

/** An event ready to append: plain JSON, with an ID that is unique in the whole log. */
export interface NewEvent {
  /** UUID. */
  readonly id: string;
  readonly type: string;
  readonly data: JsonObject;
  readonly metadata: JsonObject;
  /** What `data` and `metadata` are as text, where that was made already. */
  readonly text?: EventText | undefined;
}

/** An event as stored in the log's own file: auditors compare it with the form that the service would write. */
export interface StoredForm {
  readonly category: string;
  /** JSON, byte for byte. */
  readonly data: string;
  readonly metadata: string;
  /** What the event's hash covers of `metadata`; only where that is in the form of `plainMetadata`. */
  readonly covered?: string | undefined;
  /** The digest over the log up to here; null of an event that an earlier release wrote. */
  readonly log_digest: string | null;
  /** The same up to the event before it in the log; only of a stream that was read by its name. */
  readonly digest_before?: string | null | undefined;
}

/** An event as stored. `revision` counts from 0 in its stream, `position` orders the whole log. */
export interface RecordedEvent extends NewEvent {
  readonly stream: string;
  readonly revision: bigint;
  readonly position: bigint;
  /** Only of a log that was opened for an auditor, and has a file. */
  readonly stored?: StoredForm;
  /**
   * As it is to be read where its texts were moved into the vault: with tokens. `data` is what the log has, and what
   * hashes are over. undefined or left out: as it is.
   */
  readonly moved?: () => Pick<NewEvent, 'data' | 'metadata'> | undefined;
}

/** An event as readers get it, without anything that was moved out of it. */
export const contentOf = (event: RecordedEvent): Pick<NewEvent, 'data' | 'metadata'> =>
  event.moved?.() ?? event;

/** An event with everything that the log has of it, to verify the log. */
export const storedEvent = (recorded: RecordedEvent): RecordedEvent => {
  if (recorded.moved?.() === undefined) return recorded;
  const { id, type, stream, revision, position, data, metadata, stored } = recorded;
  return { id, type, stream, revision, position, data, metadata, ...(stored && { stored }) };
};

/** An event with nothing in it that was moved out of it: to be shown, not to be hashed. */
export const shownEvent = (recorded: RecordedEvent): RecordedEvent => {
  const moved = recorded.moved?.();
  const { id, type, stream, revision, position } = recorded;
  return moved === undefined ? recorded : { id, type, stream, revision, position, ...moved };
};

/** The revision that the stream must have for an append to happen. There is no "any". */
export type ExpectedRevision = bigint | 'no_stream';

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
