import { useInfiniteQuery } from '@tanstack/react-query';
import { eventsOf, placeOf, type EventScope, type LogEvent } from '../../../api/events.ts';
import { contentFlawOf, type Flaw } from '../verification/chain.ts';

/** An event with what this browser found of its content. */
export interface SeenEvent {
  readonly event: LogEvent;
  readonly own: Flaw | null;
}

interface EventsPage {
  readonly items: readonly SeenEvent[];
  readonly isFull: boolean;
}

type Direction = 'forwards' | 'backwards';

interface Place {
  readonly after: string | undefined;
  readonly direction: Direction;
}

export interface EventsView extends EventScope {
  /** The order in which they are shown. */
  readonly direction: Direction;
  /** The first one that is shown: a revision where a stream is named, else a position. */
  readonly from: string | undefined;
}

const OF_PAGE = 200;

const OTHER = { forwards: 'backwards', backwards: 'forwards' } as const;

/** `after` is exclusive, `from` is shown itself. */
const startOf = ({ direction, from }: EventsView): Place => {
  if (from === undefined) return { direction, after: undefined };
  const place = BigInt(from) + (direction === 'backwards' ? 1n : -1n);
  return { direction, after: place < 0n ? undefined : String(place) };
};

const readPage = async (view: EventsView, place: Place, signal: AbortSignal): Promise<EventsPage> => {
  const { stream, tenant_id } = view;
  const events: LogEvent[] = [];
  for await (const event of eventsOf({ stream, tenant_id, ...place, limit: OF_PAGE }, signal))
    events.push(event);
  const items = await Promise.all(
    events.map(async (event): Promise<SeenEvent> => ({ event, own: await contentFlawOf(event) })),
  );
  if (place.direction !== view.direction) items.reverse();
  return { items, isFull: items.length === OF_PAGE };
};

/** Events of a scope in both directions from a place, page by page. */
export const useEvents = (view: EventsView) =>
  useInfiniteQuery({
    queryKey: ['listEvents', view],
    queryFn: ({ pageParam, signal }) => readPage(view, pageParam, signal),
    initialPageParam: startOf(view),
    getNextPageParam: (last, _pages, { direction }): Place | undefined => {
      const item = last.items.at(-1);
      if (item === undefined || (direction === view.direction && !last.isFull)) return undefined;
      return { direction: view.direction, after: placeOf(view, item.event) };
    },
    getPreviousPageParam: (first, _pages, { direction }): Place | undefined => {
      const item = first.items[0];
      if (view.from === undefined || item === undefined) return undefined;
      if (direction !== view.direction && !first.isFull) return undefined;
      return { direction: OTHER[view.direction], after: placeOf(view, item.event) };
    },
  });
