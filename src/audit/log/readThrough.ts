import type { EventFeed, RecordedEvent } from '../../../domain/ports/log.ts';

/** What is read of a log, and how far. */
export interface Reading {
  readonly feed: Pick<EventFeed, 'subscribe'>;
  /** The last position that is looked at; without it, all that is there. */
  readonly upTo?: bigint | undefined;
  readonly onProgress?: ((events: number, position: bigint) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

const PROGRESS_EVERY = 10_000;

/** Every event of the log as it is now, in its order. */
export async function* everything(
  feed: Pick<EventFeed, 'subscribe'>,
  signal?: AbortSignal,
): AsyncGenerator<RecordedEvent> {
  for await (const item of feed.subscribe({ own: true, ...(signal === undefined ? {} : { signal }) })) {
    if (item.kind === 'caught_up') return;
    if (item.kind === 'event') yield item.event;
  }
}

/** How much was read. */
interface Read {
  readonly events: number;
  readonly position: string | null;
}

/** Shows every event to `look`, in the order of the log. */
export const readThrough = async (
  { feed, upTo, onProgress, signal }: Reading,
  look: (recorded: RecordedEvent) => void,
): Promise<Read> => {
  let events = 0;
  let position: bigint | undefined;
  for await (const recorded of everything(feed, signal)) {
    if (upTo !== undefined && recorded.position > upTo) break;
    events += 1;
    ({ position } = recorded);
    look(recorded);
    if (events % PROGRESS_EVERY === 0) onProgress?.(events, recorded.position);
  }
  signal?.throwIfAborted();
  return { events, position: position?.toString() ?? null };
};
