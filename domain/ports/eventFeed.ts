import type { RecordedEvent } from './eventStore.ts';

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
 * after the last position it has processed. The end of the log is told by `caught_up` alone. A server's own
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
