import { z } from 'zod';
import { LOG_STREAM } from '../kernel/json.ts';
import type { EventStore, RecordedEvent } from '../ports/log.ts';
import { event, recorder } from '../kernel/decider.ts';
import { instant } from '../kernel/amounts.ts';

/**
 * Names a log for ever: the first event of `$quire`, written when the log is made. A log of an older release
 * gets it when this one opens it first.
 */
const logOpened = event('LogOpened', {
  log_id: z.uuid(),
  opened_at: instant,
});

export const eventLogEvent = z.discriminatedUnion('type', [logOpened]);

type EventLogEvent = z.output<typeof eventLogEvent>;

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

/** A log is named once; a second name does nothing. */
export const eventLog = recorder<EventLogEvent>(() => true);
