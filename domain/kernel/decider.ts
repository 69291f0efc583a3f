/** What a decision says: events to append (none for a repeat), or a rejection. Both are values. */
export type Decision<Event, Rejection> =
  | { readonly kind: 'accepted'; readonly events: readonly Event[] }
  | { readonly kind: 'rejected'; readonly rejection: Rejection };

/** Pure rules of one kind of stream. `decide` holds every rule, `evolve` only remembers. */
export interface Decider<State, Command, Event, Rejection> {
  readonly initialState: State;
  readonly decide: (state: State, command: Command) => Decision<Event, Rejection>;
  readonly evolve: (state: State, event: Event) => State;
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
