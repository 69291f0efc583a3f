import type { SeenEvents } from '../eventLog/seenEvents.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Tracer } from './tracer.ts';

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

/** How an event lies in a log's own file: for auditors, who compare it with what the service would write. */
export interface StoredForm {
  readonly category: string;
  /** JSON, byte for byte. */
  readonly data: string;
  readonly metadata: string;
  /** What the event's hash covers of `metadata`; only where that is in the form of `plainMetadata`. */
  readonly covered?: string | undefined;
  /** The digest over the log up to here; null of an event that an earlier release wrote. */
  readonly log_digest: string | null;
}

/** An event as stored. `revision` counts from 0 in its stream, `position` orders the whole log. */
export interface RecordedEvent extends NewEvent {
  readonly stream: string;
  readonly revision: bigint;
  readonly position: bigint;
  /** Only of a log that was opened for an auditor, and has a file. */
  readonly stored?: StoredForm;
}

/** The revision that the stream must have for an append to happen. There is no "any". */
export type ExpectedRevision = bigint | 'no_stream';

/**
 * What became of an append. `appended` also answers the repetition of an identical batch at the same
 * revision, and then carries the original revision and position. `unknown` means: it may or may not
 * have been committed; send the identical batch again at the same revision to find out.
 * `moved`: nothing was sent, for the connection is no longer the one that was named.
 */
export type AppendResult =
  | { readonly kind: 'appended'; readonly revision: bigint; readonly position: bigint }
  | { readonly kind: 'conflict'; readonly actual: ExpectedRevision }
  | { readonly kind: 'moved' }
  | { readonly kind: 'unknown'; readonly reason: string }
  | { readonly kind: 'rejected'; readonly reason: 'too_large' | 'invalid'; readonly detail: string };

export interface ReadOptions {
  /** First revision to read, inclusive. Default: the first (forwards) or the last (backwards). */
  readonly from?: bigint;
  readonly direction?: 'forwards' | 'backwards';
  /** At most this many events. Default: all. */
  readonly limit?: number;
}

/**
 * The log cannot be read now: its server is away or silent, or a read was cut short. The same read may
 * succeed later. Adapters throw it instead of their client's error.
 */
export class LogUnavailable extends Error {
  override readonly name = 'LogUnavailable';
}

/**
 * The log, as those see it who decide and append. A stream that does not exist reads as empty. A read ends
 * when the log says that there is no more, or at its limit; one that is not known to be whole throws
 * LogUnavailable.
 */
export interface EventStore {
  /** Where appends are traced; left out: nowhere. */
  readonly tracer?: Tracer;
  /**
   * Counts the connections to the log; left out: there is only one. Another number means that there may be
   * another log behind: a server comes back from an older copy only over a new connection.
   */
  readonly epoch?: () => number;
  /** Where it is noted what this process has read and written; left out: nowhere. */
  readonly seen?: SeenEvents;
  /**
   * With `epoch` it is sent over the connection of that number or not at all. A caller that decided on what it
   * read before names the connection of that read: a stream that ends at the expected revision need not end with
   * the event that was read.
   */
  append(
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
    epoch?: number,
  ): Promise<AppendResult>;
  read(stream: string, options?: ReadOptions): AsyncIterable<RecordedEvent>;
  close(): Promise<void>;
}

/** Largest append, in bytes of type, data and metadata. EventStoreDB refuses above 1 MiB. */
export const APPEND_BYTES_MAX = 900 * 1024;
