import type { Command } from './command.ts';
import { accept, type Decider, type DomainEvent, type StreamKind } from './decider.ts';

/** Writes down what happened. */
export type RecordCommand<Event> = Command<'Record', Event>;

interface RecorderState {
  readonly ended: boolean;
}

export type RecorderKind<Event> = StreamKind<RecorderState, RecordCommand<Event>, Event, never>;

/**
 * Rules of a stream that only records what happened elsewhere: usage events, documents. After an event
 * that `ends` the story nothing more is written, so a repeat does nothing.
 */
export const recorder = <Event extends DomainEvent>(
  ends: (event: Event) => boolean,
): Decider<RecorderKind<Event>> => ({
  initialState: { ended: false },
  decide: ({ ended }, { data }) => (ended ? accept<Event>() : accept(data)),
  evolve: ({ ended }, event) => ({ ended: ended || ends(event) }),
});
