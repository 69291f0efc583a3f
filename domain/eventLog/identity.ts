import { LOG_STREAM } from '../kernel/ownStreams.ts';
import type { EventStore, RecordedEvent } from '../ports/eventStore.ts';

type Readable = Pick<EventStore, 'read'>;

/** Which log this is; undefined for one that no release with identities has opened for writing yet. */
export const identityOf = async (log: Readable): Promise<string | undefined> => {
  for await (const { type, data } of log.read(LOG_STREAM, { limit: 1 }))
    if (type === 'LogOpened' && typeof data['log_id'] === 'string') return data['log_id'];
  return undefined;
};

/** The event at a revision of a stream; undefined when there is none. */
export const eventAt = async (
  log: Readable,
  stream: string,
  revision: bigint,
): Promise<RecordedEvent | undefined> => {
  for await (const event of log.read(stream, { from: revision, limit: 1 }))
    if (event.revision === revision) return event;
  return undefined;
};
