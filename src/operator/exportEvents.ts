import { isOwn } from '../../domain/kernel/json.ts';
import type { EventFeed, EventStore, RecordedEvent } from '../../domain/ports/log.ts';

/** Which events are wanted; all conditions together. Times are RFC 3339 UTC, inclusive. */
export interface EventFilter {
  readonly stream?: string;
  readonly category?: string;
  readonly tenant?: string;
  readonly type?: string;
  readonly from?: string;
  readonly to?: string;
  readonly afterPosition?: bigint;
}

const timeOf = ({ metadata }: RecordedEvent): string =>
  typeof metadata['recorded_at'] === 'string' ? metadata['recorded_at'] : '';

const isWanted = (event: RecordedEvent, filter: EventFilter): boolean => {
  const conditions = [
    filter.tenant === undefined || event.metadata['tenant_id'] === filter.tenant,
    filter.type === undefined || event.type === filter.type,
    filter.from === undefined || timeOf(event) >= filter.from,
    filter.to === undefined || timeOf(event) <= filter.to,
    filter.afterPosition === undefined || event.position > filter.afterPosition,
    filter.category === undefined || event.stream.split('-', 1)[0] === filter.category,
  ];
  return conditions.every(Boolean);
};

/** The log in its order, up to where it ends now. */
async function* untilHead(
  feed: EventFeed,
  { afterPosition, category }: EventFilter,
  signal: AbortSignal,
): AsyncGenerator<RecordedEvent, void, void> {
  const done = new AbortController();
  const until = AbortSignal.any([signal, done.signal]);
  // The whole log tells about itself too; a category does when it is asked for.
  const wanted = category === undefined ? { own: true } : { categories: [category], own: isOwn(category) };
  try {
    for await (const item of feed.subscribe({ after: afterPosition, ...wanted, signal: until })) {
      if (item.kind === 'caught_up') return;
      if (item.kind === 'event') yield item.event;
    }
  } finally {
    done.abort();
  }
}

/** Events as they are stored, oldest first, until the log's present end or an abort. */
export async function* exportedEvents(
  log: EventStore & EventFeed,
  filter: EventFilter,
  signal: AbortSignal,
): AsyncGenerator<RecordedEvent, void, void> {
  const events = filter.stream === undefined ? untilHead(log, filter, signal) : log.read(filter.stream);
  for await (const event of events) {
    if (signal.aborted) return;
    if (isWanted(event, filter)) yield event;
  }
}
