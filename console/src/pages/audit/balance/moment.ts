import { eventsOf, type EventsAsked, type LogEvent } from '../../../api/events.ts';

/** What the slider counts by. */
export type Unit = 'time' | 'position';

/** A moment of the log, as the slider and the exact time show it. */
export interface Moment {
  /** By which of them it is asked for. */
  readonly by: Unit;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly position: number;
  /** The event that a step led to: it is asked for by its own position, to the last digit. */
  readonly event?: Pick<LogEvent, 'position' | 'revision'> | undefined;
}

/** What the service is asked for a moment. */
export const askedOf = ({ by, time, position, event }: Moment) =>
  by === 'time' ? { at: new Date(time).toISOString() } : { position: event?.position ?? String(position) };

/** A moment that an event ends. */
export const momentOf = (event: LogEvent, before: Moment): Moment => {
  const time = Date.parse(event.recorded_at ?? '');
  return {
    by: 'position',
    time: Number.isNaN(time) ? before.time : time,
    position: Number(event.position),
    event,
  };
};

/** The first of the events that are asked for. */
export const firstOf = async (asked: EventsAsked, signal: AbortSignal): Promise<LogEvent | undefined> => {
  for await (const event of eventsOf({ ...asked, limit: 1 }, signal)) return event;
  return undefined;
};

const two = (value: number, length = 2): string => String(value).padStart(length, '0');

/** A time in the reader's zone, as an input of date and time has it. */
export const localText = (time: number): string => {
  const at = new Date(time);
  const day = [two(at.getFullYear(), 4), two(at.getMonth() + 1), two(at.getDate())].join('-');
  const clock = [two(at.getHours()), two(at.getMinutes()), two(at.getSeconds())].join(':');
  return `${day}T${clock}.${two(at.getMilliseconds(), 3)}`;
};
