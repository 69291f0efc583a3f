import type { FeedItem } from '../../domain/ports/eventFeed.ts';
import type { RecordedEvent } from '../../domain/ports/eventStore.ts';
import type { DecodeEvent, ProjectedEvent } from './event.ts';
import type { Projector } from './projector.ts';

/** A place in the log that was reached, and what lies there if some projector wants it. */
export interface Arrival {
  readonly position: bigint;
  readonly recorded?: RecordedEvent;
  readonly event?: ProjectedEvent;
  /** Why the event could not be decoded. */
  readonly undecodable?: string;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Decodes each event once for all projectors; events that none of them wants are only places. */
export const arrivalsFrom = (projectors: readonly Projector[], decode: DecodeEvent) => {
  const wanted = new Set<string>(projectors.flatMap(({ eventTypes }) => eventTypes));
  return (item: Extract<FeedItem, { position: bigint } | { event: unknown }>): Arrival => {
    if (item.kind === 'checkpoint') return { position: item.position };
    const recorded = item.event;
    const { position } = recorded;
    if (!wanted.has(recorded.type)) return { position };
    try {
      const { type, data } = decode(recorded);
      const { id, stream, revision } = recorded;
      // The decoder pairs each type with its data; spread over a union, TypeScript forgets that. Hardly a
      // projector asks for metadata, and a log may parse it only then.
      const event = {
        id,
        stream,
        revision,
        position,
        type,
        data,
        get metadata() {
          return recorded.metadata;
        },
      } as ProjectedEvent;
      return { position, recorded, event };
    } catch (error) {
      return { position, recorded, undecodable: messageOf(error) };
    }
  };
};

/** What a projector at `position` has yet to apply of some arrivals, which are in the order of the log. */
export const arrivalsFor = (
  { eventTypes }: Projector,
  position: bigint | null,
  arrivals: readonly Arrival[],
): readonly Arrival[] => {
  const types: readonly string[] = eventTypes;
  const [first] = arrivals;
  const areAllNew = position === null || (first !== undefined && first.position > position);
  return arrivals.filter(
    ({ recorded, position: at }) =>
      recorded !== undefined && types.includes(recorded.type) && (areAllNew || at > position),
  );
};

export const eventsOf = (arrivals: readonly Arrival[]): readonly ProjectedEvent[] =>
  arrivals.flatMap(({ event }) => (event === undefined ? [] : [event]));
