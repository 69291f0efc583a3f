import type { CommandMeta } from './command.ts';

/** A command says what to do; `meta` when, by whom and why. */
export type Commanded = { readonly meta: CommandMeta };

/** An event as deciders make it: its data is JSON by its schema. */
export interface DomainEvent {
  readonly type: string;
  readonly data: object;
}

/** The four types of one kind of stream, under one name. */
export interface StreamKind<State, Command, Event, Rejection> {
  readonly state: State;
  readonly command: Command;
  readonly event: Event;
  readonly rejection: Rejection;
}

export type AnyKind = StreamKind<unknown, Commanded, DomainEvent, unknown>;

/** What a decision says: events to append (none for a repeat), or a rejection. Both are values. */
export type Decision<Event, Rejection> =
  | { readonly kind: 'accepted'; readonly events: readonly Event[] }
  | { readonly kind: 'rejected'; readonly rejection: Rejection };

/** Pure rules of one kind of stream. `decide` holds every rule, `evolve` only remembers. */
export interface Decider<Kind extends AnyKind> {
  readonly initialState: Kind['state'];
  /** Each event says all that is known: the last one is enough, however long the stream is. */
  readonly saysAll?: boolean;
  readonly decide: (
    state: Kind['state'],
    command: Kind['command'],
  ) => Decision<Kind['event'], Kind['rejection']>;
  readonly evolve: (state: Kind['state'], event: Kind['event']) => Kind['state'];
}

export const accept = <Event>(
  ...events: readonly Event[]
): { kind: 'accepted'; events: readonly Event[] } => ({
  kind: 'accepted',
  events,
});

export const reject = <const Rejection>(
  rejection: Rejection,
): { kind: 'rejected'; rejection: Rejection } => ({
  kind: 'rejected',
  rejection,
});
