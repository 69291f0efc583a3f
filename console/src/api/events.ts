import type { Call } from '../../../sdk/src/call.ts';
import { entriesOfLines } from '../../../sdk/src/lines.ts';
import { answerOf, urlOf } from '../../../sdk/src/send.ts';
import { connection } from './send.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** A stored event, and the text that its hash covers. */
export interface LogEvent {
  readonly position: string;
  readonly stream: string;
  readonly revision: string;
  readonly event_id: string;
  readonly type: string;
  readonly recorded_at: string | null;
  readonly hash_version: 1 | 2 | null;
  readonly prev_hash: string | null;
  readonly hash: string | null;
  readonly data: JsonObject | null;
  readonly metadata: JsonObject | null;
  /** null: what is stored is no JSON any more, or texts were moved out of it. */
  readonly covered: string | null;
  /** Tokens stand in the place of what was hashed: here nobody can compute its hash again. */
  readonly texts_moved: boolean;
  /** What stands for text that people wrote, and that text; null: it was erased. */
  readonly texts?: Readonly<Record<string, string | null>>;
  /** What the key that acted is called; null: it has no name, or nobody acted by a key. */
  readonly actor_name?: string | null;
}

/** Events of one stream, of one tenant, of both, or all. */
export interface EventScope {
  readonly stream?: string | undefined;
  readonly tenant_id?: string | undefined;
}

/** Which events of a scope are looked for. */
export interface EventFilter {
  readonly type?: string | undefined;
  /** ID of the key that acted, or `system`. */
  readonly actor?: string | undefined;
  /** Days or times, both inclusive. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly q?: string | undefined;
}

export interface EventsAsked extends EventScope, EventFilter {
  /** Goes on behind this one: a revision where `stream` is named, else a position. */
  readonly after?: string | undefined;
  readonly direction?: 'forwards' | 'backwards' | undefined;
  readonly limit?: number | undefined;
  /** With what people wrote: it lies beside the log. */
  readonly texts?: boolean | undefined;
}

const EVENTS: Call = { method: 'GET', path: '/v1/admin/events' };

/** Most events of one answer. */
export const EVENTS_MAX = 1_000_000;

/** Where the place of an event is said for `after`. */
export const placeOf = ({ stream }: EventScope, event: LogEvent): string =>
  stream === undefined ? event.position : event.revision;

/** Events of the log as they arrive. */
export async function* eventsOf(
  asked: EventsAsked,
  signal: AbortSignal,
): AsyncGenerator<LogEvent, void, undefined> {
  const { body } = await answerOf(connection, EVENTS, { input: { query: asked }, options: { signal } });
  if (body !== null) yield* entriesOfLines<LogEvent>(body);
}

/** The address of the same as a file: the browser writes it to the disk as it arrives. */
export const eventsAddress = (asked: EventsAsked): string => urlOf('', EVENTS, { query: asked });
