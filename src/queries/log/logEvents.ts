import { coveredText, hashVersionOf } from '../../../domain/kernel/chain.ts';
import type { JsonObject } from '../../../domain/kernel/json.ts';
import type { EventFeed, EventStore, RecordedEvent } from '../../../domain/ports/log.ts';

/** The log as auditors read it: streams, and the whole in both directions. */
export type LogToRead = Pick<EventStore, 'read'> & Pick<EventFeed, 'subscribe' | 'backwards'>;

/** Which events are asked for, all conditions together. */
export interface EventsAsked {
  readonly stream?: string | undefined;
  readonly tenant_id?: string | undefined;
  /** Goes on behind this one: a revision where `stream` is named, else a position. */
  readonly after?: bigint | undefined;
  readonly direction: 'forwards' | 'backwards';
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** A line of the answer: the stored event, and the text that its hash covers. */
interface EventLine {
  readonly position: string;
  readonly stream: string;
  readonly revision: string;
  readonly event_id: string;
  readonly type: string;
  /** As all of the metadata: null where it is no JSON any more. */
  readonly recorded_at: string | null;
  readonly hash_version: 1 | 2 | null;
  readonly prev_hash: string | null;
  readonly hash: string | null;
  readonly data: JsonObject | null;
  readonly metadata: JsonObject | null;
  readonly covered: string | null;
}

/** Up to where the log reaches now. */
async function* toTheEnd(log: LogToRead, { after, signal }: EventsAsked): AsyncGenerator<RecordedEvent> {
  for await (const item of log.subscribe({ after, own: true, signal })) {
    if (item.kind === 'caught_up') return;
    if (item.kind === 'event') yield item.event;
  }
}

const candidates = (log: LogToRead, asked: EventsAsked): AsyncIterable<RecordedEvent> => {
  const { stream, after, direction, signal } = asked;
  const backwards = direction === 'backwards';
  if (stream === undefined)
    return backwards ? log.backwards({ before: after, signal }) : toTheEnd(log, asked);
  const from = after === undefined ? {} : { from: backwards ? after - 1n : after + 1n };
  return log.read(stream, { direction, ...from });
};

/** What a stored event holds; null where somebody made it into something that is no JSON. */
const contentOf = (event: RecordedEvent): Pick<RecordedEvent, 'data' | 'metadata'> | null => {
  try {
    return { data: event.data, metadata: event.metadata };
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
};

/** Events of the log as they are stored, as many as were asked for, until nobody listens any more. */
export async function* logEvents(log: LogToRead, asked: EventsAsked): AsyncGenerator<RecordedEvent> {
  const { stream, direction, after, limit, tenant_id, signal } = asked;
  // Before revision 0 there is nothing.
  if (stream !== undefined && direction === 'backwards' && after === 0n) return;
  let left = limit;
  for await (const event of candidates(log, asked)) {
    if (signal.aborted) return;
    if (tenant_id !== undefined && contentOf(event)?.metadata['tenant_id'] !== tenant_id) continue;
    yield event;
    left -= 1;
    if (left === 0) return;
  }
}

const textIn = (metadata: JsonObject | undefined, name: string): string | null => {
  const value = metadata?.[name];
  return typeof value === 'string' ? value : null;
};

/** null for content that has no canonical form, such as half of a surrogate pair. */
const coveredBy = (event: RecordedEvent): string | null => {
  try {
    return coveredText(event);
  } catch {
    return null;
  }
};

/** An event as a line: what is read again from `covered` is what was hashed, and nothing else. */
export const eventLine = (event: RecordedEvent): EventLine => {
  const content = contentOf(event);
  const metadata = content?.metadata;
  return {
    position: event.position.toString(),
    stream: event.stream,
    revision: event.revision.toString(),
    event_id: event.id,
    type: event.type,
    recorded_at: textIn(metadata, 'recorded_at'),
    hash_version: metadata === undefined ? null : (hashVersionOf({ metadata }) ?? null),
    prev_hash: textIn(metadata, 'prev_hash'),
    hash: textIn(metadata, 'hash'),
    data: content?.data ?? null,
    metadata: metadata ?? null,
    covered: content === null ? null : coveredBy(event),
  };
};
