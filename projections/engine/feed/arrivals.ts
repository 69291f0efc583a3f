import type { FeedItem } from '../../../domain/ports/eventFeed.ts';
import type { RecordedEvent } from '../../../domain/ports/eventStore.ts';
import type { DecodeEvent, ProjectedEvent } from './event.ts';
import type { Projector } from '../projector.ts';

/** Which event was recorded, and what is recorded about it. */
export type Delivered = Pick<RecordedEvent, 'id' | 'type' | 'stream' | 'revision' | 'position' | 'metadata'>;

/** A position that was reached, and the event there if a projector wants it. */
export interface Arrival {
  readonly position: bigint;
  readonly recorded?: Delivered;
  /** The event there, whether a projector wants it or not. */
  readonly delivered?: Delivered;
  readonly event?: ProjectedEvent;
  /** Why the event could not be decoded. */
  readonly undecodable?: string;
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Decodes each event once for all projectors; of events that none wants only the position is kept. */
export const arrivalsFrom = (projectors: readonly Projector[], decode: DecodeEvent) => {
  const wanted = new Set<string>(projectors.flatMap(({ eventTypes }) => eventTypes));
  return (item: Extract<FeedItem, { position: bigint } | { event: unknown }>): Arrival => {
    if (item.kind === 'checkpoint') return { position: item.position };
    const recorded = item.event;
    const { position } = recorded;
    if (!wanted.has(recorded.type)) return { position, delivered: recorded };
    try {
      const { type, data } = decode(recorded);
      const { id, stream, revision, metadata } = recorded;
      // The decoder pairs each type with its data; spread over a union, TypeScript forgets that. The event as it
      // was read is let go: its text and the data as they were parsed would be as large again, for a whole batch.
      const event = { id, stream, revision, position, type, data, metadata } as ProjectedEvent;
      return { position, recorded: event, delivered: event, event };
    } catch (error) {
      return { position, recorded, delivered: recorded, undecodable: messageOf(error) };
    }
  };
};

/** A projector, and the position up to which it has applied everything. */
export interface Reader {
  readonly projector: Projector;
  readonly position: bigint | null;
}

/** What each reader has yet to apply of some arrivals, which are in the order of the log. */
export const arrivalsForEach = (
  readers: readonly Reader[],
  arrivals: readonly Arrival[],
): readonly (readonly Arrival[])[] => {
  const [first] = arrivals;
  const wanted = new Map<string, { readonly into: Arrival[]; readonly after: bigint | null }[]>();
  const results = readers.map(({ projector, position }) => {
    const into: Arrival[] = [];
    const areAllNew = position === null || (first !== undefined && first.position > position);
    for (const type of projector.eventTypes) {
      const takers = wanted.get(type) ?? [];
      takers.push({ into, after: areAllNew ? null : position });
      wanted.set(type, takers);
    }
    return into;
  });
  for (const arrival of arrivals) {
    const takers = arrival.recorded === undefined ? undefined : wanted.get(arrival.recorded.type);
    if (takers === undefined) continue;
    for (const { into, after } of takers) if (after === null || arrival.position > after) into.push(arrival);
  }
  return results;
};

export const eventsOf = (arrivals: readonly Arrival[]): readonly ProjectedEvent[] => {
  const events: ProjectedEvent[] = [];
  for (const { event } of arrivals) if (event !== undefined) events.push(event);
  return events;
};

/** The first event after a position, null for the log's start; undefined when none arrived. */
export const firstRecorded = (arrivals: readonly Arrival[], after: bigint | null): Delivered | undefined =>
  arrivals.find(({ position, recorded }) => recorded !== undefined && (after === null || position > after))
    ?.recorded;
