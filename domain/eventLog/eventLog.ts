import { z } from 'zod';
import { event } from '../kernel/event.ts';
import { recorder } from '../kernel/recorder.ts';
import { instant } from '../kernel/units.ts';

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

/** A log is named once; a second name does nothing. */
export const eventLog = recorder<EventLogEvent>(() => true);
