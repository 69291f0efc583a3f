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
  readonly signal?: AbortSignal;
}

/**
 * The log in its one global order. `subscribe` ends when `signal` aborts; an end without that, or an
 * error, is a dropped subscription, and the caller subscribes again after the last position it has
 * processed. System streams (`$…`) are never delivered.
 */
export interface EventFeed {
  subscribe(options: FeedOptions): AsyncIterable<FeedItem>;
  /** Position of the last event in the log, undefined when it is empty. */
  head(): Promise<bigint | undefined>;
}
