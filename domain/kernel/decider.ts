import { z } from 'zod';

/** What arrives with every command: the domain has no clock and no randomness of its own. */
export interface CommandMeta {
  /** RFC 3339 UTC with milliseconds. */
  readonly now: string;
  readonly actor: Actor;
  /** The request that caused it. */
  readonly correlation_id: string;
  /** Makes event IDs deterministic: the same command gives the same IDs. A UUID. */
  readonly command_id: string;
  /** W3C trace context that its events carry; left out where no trace is recorded. */
  readonly traceparent?: string;
}

/** A command: its name, what it says, and when, by whom and why. */
export interface Command<Type extends string, Data> {
  readonly type: Type;
  readonly data: Data;
  readonly meta: CommandMeta;
}

/** A command whose name says it all. */
export type BareCommand<Type extends string> = Omit<Command<Type, unknown>, 'data'>;

/** One definition gives an event's type, its decoder and the JSON Schema that auditors read. */
export const event = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.strictObject({ type: z.literal(type), data: z.strictObject(shape) });

/** Who acts: an API key, or a part of the service itself (`system`). Never a plain key. */
export const actor = z.strictObject({
  key_id: z.string(),
  role: z.enum(['tenant', 'service', 'seller', 'admin', 'system']),
});
type Actor = z.output<typeof actor>;

const acted = z.object({ actor });

/** Who acted, by the metadata of an event: the `key_id` of its actor. */
export const actorIn = (metadata: Readonly<Record<string, unknown>>): string | null =>
  acted.safeParse(metadata).data?.actor.key_id ?? null;

/** Where an event was appended, in a trace: W3C trace context of the append's span. */
export const traceparent = z.string().regex(/^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/);

/** Metadata stored beside every event. `hash` is made of the rest and of the event: see `chain.ts`. */
export const eventMetadata = z.strictObject({
  schema_version: z.number().int().min(1),
  correlation_id: z.string(),
  causation_id: z.string(),
  actor,
  tenant_id: z.string().nullable(),
  recorded_at: z.iso.datetime({ precision: 3 }),
  prev_hash: z.string().nullable(),
  /** What `hash` covers. Left out by version 1. */
  hash_version: z.literal([1, 2]).optional(),
  /** Left out where no trace was recorded. */
  traceparent: traceparent.optional(),
  hash: z.string(),
});

/** A command says what to do; `meta` when, by whom and why. */
type Commanded = { readonly meta: CommandMeta };

/** An event as deciders make it: its data is JSON by its schema. */
export interface DomainEvent {
  readonly type: string;
  readonly data: object;
}

/** The four types of one kind of stream, under one name. */
// eslint-disable-next-line house/no-many-type-parameters -- the one type that gives others their four
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

/**
 * Nothing can be said before these events of the stream were read again: the state knows where they are, not what they
 * say.
 */
export class EventsNeeded extends Error {
  override readonly name = 'EventsNeeded';
  readonly revisions: readonly number[];
  constructor(revisions: readonly number[]) {
    super(`events at revisions ${revisions.join(', ')} are needed`);
    this.revisions = revisions;
  }
}

/** Events of a stream that were read again, by revision. */
export type EarlierEvents<Event> = ReadonlyMap<number, Event>;

/** Pure rules of one kind of stream. `decide` holds every rule, `evolve` only remembers. */
export interface Decider<Kind extends AnyKind> {
  readonly initialState: Kind['state'];
  /** Each event says all that is known: the last one is enough, however long the stream is. */
  readonly saysAll?: boolean;
  /** Throws EventsNeeded, where a state does not keep all that its events said. */
  readonly decide: (
    state: Kind['state'],
    command: Kind['command'],
  ) => Decision<Kind['event'], Kind['rejection']>;
  readonly evolve: (state: Kind['state'], event: Kind['event']) => Kind['state'];
  /** The state with what earlier events said. Throws EventsNeeded, where these need others. */
  readonly recall?: (state: Kind['state'], earlier: EarlierEvents<Kind['event']>) => Kind['state'];
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
