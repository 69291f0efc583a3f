import type { ExpectedRevision, NewEvent, RecordedEvent, Snapshot } from '../kernel/recorded.ts';
import type { SeenEvents } from '../kernel/witness.ts';

/** Time and identity from outside; tests give their own. */
export interface Clock {
  /** RFC 3339 UTC with milliseconds. */
  readonly now: () => string;
  /** `<prefix>_` + a sortable ID (ULID). */
  readonly newId: (prefix: string) => string;
  /** A random UUID. */
  readonly uuid: () => string;
  /** Milliseconds that only run forward, of this process; left out: since it began. */
  readonly monotonicMs?: () => number;
}

/**
 * One step of a subscription. `caught_up`: all events before it were delivered, live ones follow.
 * `checkpoint`: nothing that matches the filter up to `position`.
 */
export type FeedItem =
  | { readonly kind: 'event'; readonly event: RecordedEvent }
  | { readonly kind: 'caught_up' }
  | { readonly kind: 'checkpoint'; readonly position: bigint };

export interface FeedOptions {
  /** Deliver what lies after this position (exclusive); undefined: from the start. */
  readonly after?: bigint | undefined;
  /** Stream categories wanted (the part before the first hyphen, or the whole name). Default: all. */
  readonly categories?: readonly string[];
  /** Also deliver events of `$quire` and `$seals`, whatever the categories. Default: no. */
  readonly own?: boolean;
  readonly signal?: AbortSignal;
}

/** Which part of the log is read from its end. */
export interface BackwardsOptions {
  /** Deliver what lies before this position (exclusive); undefined: from the end. */
  readonly before?: bigint | undefined;
  readonly signal?: AbortSignal;
}

/**
 * The log in its one global order. `subscribe` ends only when `signal` aborts. Whatever else drops a
 * subscription, the closing of the log included, throws LogUnavailable, and the caller subscribes again
 * after the last position it has processed. Only `caught_up` reports the end of the log. A server's own
 * streams (`$…`) and snapshots are never delivered, and events about the log itself only when `own` is set.
 */
export interface EventFeed {
  subscribe(options: FeedOptions): AsyncIterable<FeedItem>;
  /**
   * The same events from the last to the first, those about the log itself too. It ends with the first, or
   * when `signal` aborts, and else throws LogUnavailable.
   */
  backwards(options: BackwardsOptions): AsyncIterable<RecordedEvent>;
  /** Position of the last event that `subscribe` delivers without `own`, undefined when there is none. */
  head(): Promise<bigint | undefined>;
  /** Position of the last event of any kind, the server's own included; undefined in an empty log. */
  end(): Promise<bigint | undefined>;
}

/**
 * What became of an append. `appended` also answers the repetition of an identical batch at the same
 * revision, and then carries the original revision and position. `unknown` means: it may or may not
 * have been committed; send the identical batch again at the same revision to find out.
 * `moved`: nothing was sent, because the connection is no longer the one that was named.
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
  override readonly name: string = 'LogUnavailable';
}

/** The log's server does not know the user, or the password is another one: the same call does not succeed later. */
export class LogLoginRefused extends LogUnavailable {
  override readonly name = 'LogLoginRefused';
}

/** Gives tokens for the texts of one tenant, and then keeps those texts. */
export interface TextSealer {
  /** What stands in an event of the stream for a text; a token of this tenant stays as it is. */
  readonly token: (stream: string, text: string) => string;
  /** Stores every text that it gave a token for; durable when it resolves. */
  readonly keep: () => Promise<void>;
}

/** What is forgotten of a tenant's texts. */
export interface ForgottenTexts {
  readonly tenant_id: string;
  /** Those of one stream that has texts of its own; left out: all, and the key that sealed them. */
  readonly stream?: string;
  /** Only what was written up to then, RFC 3339 UTC. */
  readonly until?: string;
}

/**
 * Texts that people write, beside the log: sealed with a key of their tenant, and found by the token that an event has
 * in their place. Every method rejects while the texts or keys cannot be reached.
 */
export interface TextVault {
  readonly sealer: (tenantId: string) => Promise<TextSealer>;
  /** Texts by token; what was forgotten, or is another tenant's than `of`, is not in it. Operators are anybody's. */
  readonly texts: (tokens: readonly string[], of?: string) => Promise<ReadonlyMap<string, string>>;
  readonly forget: (what: ForgottenTexts) => Promise<void>;
  /** Seals and opens what is kept elsewhere with the tenant's key; null: it does not open any more. */
  readonly seal: (tenantId: string, text: string) => Promise<string>;
  readonly open: (tenantId: string, sealed: string) => Promise<string | null>;
}

/**
 * The log, as deciding and appending code sees it. A stream that does not exist reads as empty. A read ends
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
  /**
   * Looks again, for a bounded time, while what it finds speaks against what this process knows of the log: a node
   * that is behind finds that, too. Left out: the log has one node.
   */
  readonly unlessBehind?: <Found>(
    look: () => Promise<Found>,
    isKnown: (found: Found) => boolean,
  ) => Promise<Found>;
  /** Where it is noted what this process has read and written; left out: nowhere. */
  readonly seen?: SeenEvents;
  /** Where texts that people write are kept; left out: in the events. */
  readonly vault?: TextVault | undefined;
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

/** A log that can be followed, and asked what it is and what stands at a place that was read before. */
export type KnownLog = EventFeed & Pick<EventStore, 'read' | 'seen' | 'unlessBehind'>;

/**
 * Where snapshots are stored: beside the log, so that anyone who can change one could change the log as well. The
 * last one saved for a stream stays; an older one only costs a few more events to fold.
 */
export interface SnapshotStore {
  /** undefined: there is none. Rejects if the store cannot be read, or its content is not a snapshot. */
  load(stream: string): Promise<Snapshot | undefined>;
  /** Rejects where the store cannot be written. */
  save(snapshot: Snapshot): Promise<'saved' | 'too_large'>;
}

/** Largest snapshot that any log takes, in bytes of JSON. */
export const SNAPSHOT_BYTES_MAX = APPEND_BYTES_MAX;

/** What a span says of its work: counts, names and outcomes; never a key, a file name or content. */
type SpanFacts = Readonly<Record<string, string | number | boolean>>;

/** A piece of work in a trace. One that never ends is never exported. */
export interface Span {
  /** W3C trace context, `00-<trace>-<span>-01`; undefined when nobody records the span. */
  readonly traceparent: string | undefined;
  end(facts?: SpanFacts, outcome?: 'ok' | 'failed'): void;
}

export interface SpanOptions {
  /** Left out: the span that the caller runs within, if there is one. */
  readonly parent?: string | undefined;
  readonly kind?: 'server' | 'client' | 'producer' | 'consumer' | 'internal';
  readonly facts?: SpanFacts;
  /** Milliseconds since 1970; left out: now. */
  readonly beganAtMs?: number;
}

/** Records spans, or does nothing. It never throws, and nothing waits for what it exports. */
export interface Tracer {
  begin(name: string, options?: SpanOptions): Span;
  /** Does work inside a span: spans that begin in it, also later in its promises, are its children. */
  within<T>(span: Span, work: () => T): T;
  /** Exports what is left, for a bounded time. */
  close(): Promise<void>;
}

const NO_SPAN: Span = { traceparent: undefined, end: () => undefined };

/** Records nothing: what a service without an exporter has. */
export const NO_TRACER: Tracer = {
  begin: () => NO_SPAN,
  within: (_, work) => work(),
  close: () => Promise.resolve(),
};
