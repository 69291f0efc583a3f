import type { EventFeed } from './eventFeed.ts';
import type { EventStore } from './eventStore.ts';

/** A log that can be followed, and asked what it is and what stands at a place that was read before. */
export type KnownLog = EventFeed & Pick<EventStore, 'read' | 'seen'>;
